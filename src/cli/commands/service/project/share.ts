import type { Command } from "commander";
import { quoteText } from "../../../../contract/text/invisible.ts";
import { refuseBoth } from "../../../args/flags.ts";
import { parseLifetime, parseName, parseNames } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { projectVerb } from "../project-verb.ts";
import { NEW_SHARE, REMOVED_SHARE, SHARES } from "../service-resources.ts";

export function registerShare(parent: Command, context: CommandContext): void {
  const noun = parent.command("share").description("live pages with the score, for colleagues without a key");
  projectVerb(context, noun, {
    kind: "share.add",
    name: "add",
    summary: "create a link to a live page with the score, and print it once",
    operands: [["<name>", "the page's name, which its readers see"]],
    examples: [
      "surveyctl service share add Board --data survey.db",
      "surveyctl service share add Support --segment plan,region --no-comments --expires 90d",
    ],
    flags: [
      {
        flag: "--expires",
        value: "duration",
        text: "end the link after this long, such as 90d",
        otherwise: "it never ends",
      },
      { flag: "--trend", value: "id", text: "only responses of this trend" },
      { flag: "--segment", value: "names", text: "a chart for each of these properties", repeatable: true },
      { flag: "--comments", text: "show the newest comments, with personal data masked; the default" },
      { flag: "--no-comments", text: "leave comments out" },
    ],
    columns: NEW_SHARE,
    details: ({ deps, flags, operands: [name = ""] }) => {
      refuseBoth(deps.commandLine, "--comments");
      const expiresAfter = flags.parse("--expires", parseLifetime);
      return {
        name: parseName(name, "<name>"),
        trend: flags.parse("--trend", parseName),
        segments: [...new Set(parseNames(flags.all("--segment"), "--segment"))],
        comments: !flags.isOff("--comments"),
        ...(expiresAfter === null ? {} : { expiresAfter }),
      };
    },
    notes: () => ["save this link now; it is not shown again. Whoever has it can see the page"],
  });
  registerListAndRemove(noun, context);
}

function registerListAndRemove(noun: Command, context: CommandContext): void {
  projectVerb(context, noun, {
    kind: "share.list",
    name: "list",
    alias: "ls",
    summary: "list pages for colleagues, without their links",
    examples: ["surveyctl service share list --data survey.db", "surveyctl service share list --json"],
    columns: SHARES,
  });
  projectVerb(context, noun, {
    kind: "share.remove",
    name: "remove",
    alias: "rm",
    summary: "end a link at once",
    operands: [["<name|id>", "the page's name or number, from `service share list`"]],
    examples: ["surveyctl service share remove Board --data survey.db", "surveyctl service share rm 12 --yes"],
    columns: REMOVED_SHARE,
    details: ({ operands: [id = ""] }) => ({ id }),
    removal: {
      command: "service share remove",
      question: async (admin, { project, operands: [which] }) => {
        const shares = await admin({ kind: "share.list", project });
        const share = shares.find(({ name }) => name === which) ?? shares.find(({ id }) => id === which);
        return share === undefined ? null : `Remove the page "${share.name}"? Its link ends for everybody who has it.`;
      },
    },
    done: ({ name }) => `Removed the page ${quoteText(name)}; its link leads nowhere now.`,
  });
}
