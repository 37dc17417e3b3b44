import { parseName } from "../../args/values.ts";
import { parseStart } from "../../kit/time-flags.ts";
import { serviceCommand } from "./service-command.ts";

export const log = serviceCommand({
  operation: "log",
  summary: "list who changed what: operations, and people and responses that were deleted or overwritten",
  examples: [
    "surveyctl service log --since 7d --data survey.db",
    "surveyctl service log --by 'command line' --operation 'key.*'",
    "surveyctl service log --by laptop --all -o csv",
  ],
  flags: {
    since: { value: "time", text: "only lines since then", parse: parseStart },
    by: { value: "who", text: "only changes by this key (name or number), or by 'command line'", parse: parseName },
    operation: { value: "name", text: "only this operation, such as pause or 'key.*'", parse: parseName },
  },
  noun: "log lines",
  dropFirst: ["project", "result"],
  pages: true,
});
