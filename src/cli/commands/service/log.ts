import { parseName } from "../../args/values.ts";
import { parseTime } from "../../args/time.ts";
import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import type { Deps } from "../../kit/deps.ts";
import { LIMITS } from "../../kit/rows/list-rows.ts";
import { timeContext } from "../../kit/time-flags.ts";
import { PLACE, PROJECT, showPages } from "./data/data-file.ts";
import { toResource } from "./service-resources.ts";

const LINES = toResource(
  "log lines",
  { time: "time", project: "text", operation: "text", by: "text", what: "text", result: "text" },
  ["project", "result"],
);

export const log = defineCommand({
  name: "log",
  summary: "list who changed what: operations, and people and responses that were deleted or overwritten",
  examples: [
    "surveyctl service log --since 7d --data survey.db",
    "surveyctl service log --by 'command line' --operation 'key.*'",
    "surveyctl service log --by laptop --all -o csv",
  ],
  exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
  flags: {
    place: PLACE,
    project: PROJECT,
    since: {
      flag: "--since",
      value: "time",
      text: "only lines since then",
      parse: (text: string, place: string, deps: Deps) => parseTime(text, place, timeContext(deps), "first"),
    },
    by: { flag: "--by", value: "who", text: "only by this key's name or number, or 'command line'", parse: parseName },
    operation: {
      flag: "--operation",
      value: "name",
      text: "only this operation, such as pause or 'key.*'",
      parse: parseName,
    },
    limits: LIMITS,
  },
  columns: LINES,
  run: (deps, { place, project, limits, ...filter }) =>
    showPages(deps, {
      ...place,
      project,
      limits,
      resource: LINES,
      fetch: (admin, after, limit) => admin({ kind: "log", project, ...filter, after, limit }),
    }),
});
