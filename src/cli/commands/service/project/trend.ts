import type { Command } from "commander";
import type { Flags } from "../../../args/flags.ts";
import { parseKeyValue } from "../../../args/values.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { projectVerb } from "../project-verb.ts";
import { REMOVED, TRENDS } from "../service-resources.ts";

/** Property names and the values that a response must have. Throws UsageError. */
function readConditions(flags: Flags): Readonly<Record<string, string>> {
  const where = flags.all("--where").map((text) => parseKeyValue(text, "--where"));
  if (where.length === 0) throw new UsageError("--where is required", { hint: "for example --where plan=pro" });
  return Object.fromEntries(where);
}

export function registerTrend(parent: Command, context: CommandContext): void {
  const noun = parent
    .command("trend")
    .description("saved filters on person_properties, for responses list and metrics");
  projectVerb(context, noun, {
    kind: "trend.add",
    name: "add",
    summary: "save a filter, to use its id with --trend",
    operands: [["<name>", "the trend's name"]],
    examples: [
      "surveyctl service trend add 'Pro customers' --where plan=pro --data survey.db",
      "surveyctl service trend add 'Pro in France' --where plan=pro --where country=FR",
    ],
    flags: [
      {
        flag: "--where",
        value: "key=value",
        text: "property and value that a response must have",
        repeatable: true,
      },
    ],
    columns: TRENDS,
    details: ({ flags, operands: [name = ""] }) => ({ name, where: readConditions(flags) }),
  });
  projectVerb(context, noun, {
    kind: "trend.list",
    name: "list",
    alias: "ls",
    summary: "list trends",
    examples: ["surveyctl service trend list --data survey.db", "surveyctl service trend list --json"],
    columns: TRENDS,
  });
  projectVerb(context, noun, {
    kind: "trend.remove",
    name: "remove",
    alias: "rm",
    summary: "remove a trend and keep its responses",
    operands: [["<id>", "the trend's number, from `service trend list`"]],
    examples: [
      "surveyctl service trend remove 12 --data survey.db",
      "surveyctl service trend rm 12 --project acme --yes",
    ],
    columns: REMOVED,
    details: ({ operands: [id = ""] }) => ({ id }),
    removal: {
      command: "service trend remove",
      question: async (admin, { project, operands: [id] }) => {
        const trend = (await admin({ kind: "trend.list", project })).find((one) => one.id === id);
        return trend === undefined ? null : `Remove trend "${trend.name}"? Its responses stay.`;
      },
    },
    done: (_, { operands: [id] }) => `Removed trend ${id}.`,
  });
}
