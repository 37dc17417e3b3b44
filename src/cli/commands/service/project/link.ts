import type { Command } from "commander";
import { parseKeyValue, parseName } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { projectVerb } from "../project-verb.ts";
import { LINKS, REMOVED } from "../service-resources.ts";

export function registerLink(parent: Command, context: CommandContext): void {
  const noun = parent.command("link").description("public links, through which anybody may answer a survey");
  projectVerb(context, noun, {
    kind: "link.add",
    name: "add",
    summary: "create a public link to a survey, for a website or a QR code",
    operands: [["<name>", "the link's name, which only you see"]],
    examples: [
      "surveyctl service link add Checkout --property store=web --data survey.db",
      "surveyctl service link add 'Shop in Lyon' --property store=lyon --property locale=fr",
    ],
    flags: [{ flag: "--property", value: "key=value", text: "property that each response gets", repeatable: true }],
    columns: LINKS,
    details: ({ flags, operands: [name = ""] }) => ({
      name: parseName(name, "<name>"),
      properties: Object.fromEntries(flags.all("--property").map((text) => parseKeyValue(text, "--property"))),
    }),
  });
  projectVerb(context, noun, {
    kind: "link.list",
    name: "list",
    alias: "ls",
    summary: "list public links",
    examples: ["surveyctl service link list --data survey.db", "surveyctl service link list --json"],
    columns: LINKS,
  });
  projectVerb(context, noun, {
    kind: "link.remove",
    name: "remove",
    alias: "rm",
    summary: "remove a public link and keep its responses",
    operands: [["<id>", "the link's number, from `service link list`"]],
    examples: ["surveyctl service link remove 12 --data survey.db", "surveyctl service link rm 12 --yes"],
    columns: REMOVED,
    details: ({ operands: [id = ""] }) => ({ id }),
    removal: {
      command: "service link remove",
      question: async (admin, { project, operands: [id] }) => {
        const link = (await admin({ kind: "link.list", project })).find((one) => one.id === id);
        return link === undefined ? null : `Remove link "${link.name}"? Nobody can answer there; its responses stay.`;
      },
    },
    done: (_, { operands: [id] }) => `Removed link ${id}; its responses stay.`,
  });
}
