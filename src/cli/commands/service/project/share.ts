import { quoteText } from "../../../../contract/text/invisible.ts";
import { rejectConflict } from "../../../args/flags.ts";
import { parseName } from "../../../args/values.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import type { FlagGroup } from "../../../kit/flag-spec.ts";
import { parseNameArg, serviceCommand } from "../service-command.ts";

const COMMENTS: FlagGroup<boolean> = {
  records: [
    { flag: "--comments", text: "show the newest comments, with personal data masked; the default" },
    { flag: "--no-comments", text: "leave comments out" },
  ],
  read: (flags, deps) => {
    rejectConflict(deps.commandLine, "--comments");
    return !flags.isOff("--comments");
  },
};

export const share = defineGroup({
  name: "share",
  summary: "live pages with the score, for colleagues without a key",
  commands: [
    serviceCommand({
      operation: "share.add",
      summary: "create a link to a live page with the score, and print it once",
      examples: [
        "surveyctl service share add Board --data survey.db",
        "surveyctl service share add Support --segment plan,region --no-comments --expires 90d",
      ],
      args: { name: { form: "<name>", text: "the page's name, which its readers see", parse: parseNameArg } },
      flags: {
        expires: {
          value: "duration",
          text: "expire the link after this time, such as 90d",
          otherwise: "never expires",
        },
        trend: { value: "id", text: "only responses of this trend", parse: parseName },
        segment: { value: "names", text: "a chart for each of these properties", repeatable: true },
        comments: COMMENTS,
      },
      noun: "shared pages",
      notes: () => ["save this link now; it is not shown again. Anyone who has it can see the page"],
    }),
    serviceCommand({
      operation: "share.list",
      summary: "list live pages, without their links",
      examples: ["surveyctl service share list --data survey.db", "surveyctl service share list --json"],
      noun: "shared pages",
      dropFirst: ["created_at"],
    }),
    serviceCommand({
      operation: "share.remove",
      summary: "revoke a link immediately",
      examples: ["surveyctl service share remove Board --data survey.db", "surveyctl service share rm 12 --yes"],
      args: { id: { form: "<name|id>", text: "the page's name or number, from `service share list`" } },
      noun: "shared pages",
      asks: true,
      done: ({ name }) => `Removed the page ${quoteText(name)}; its link leads nowhere now.`,
    }),
  ],
});
