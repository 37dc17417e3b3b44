import type { JsonObject } from "../../../contract/json.ts";
import { COUNT_FLAG } from "../../kit/rows/list-rows.ts";
import { writeNote } from "../../kit/notes.ts";
import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { writeList } from "../../render/list-output.ts";
import { findRuns, RUNS, RUNS_ARG, statusOf, toRow } from "./runs.ts";

export const list = defineCommand({
  name: "list",
  alias: "ls",
  summary: "list imports recorded here, with the outcomes of their rows",
  args: { file: RUNS_ARG },
  examples: ["surveyctl imports list", "surveyctl imports list customers.csv --json"],
  exits: [EXIT.done, EXIT.usage, EXIT.refused],
  flags: { count: COUNT_FLAG },
  columns: RUNS,
  run: async (deps, { file, count }) => {
    const rows: JsonObject[] = [];
    for (const run of await findRuns(file)) rows.push(toRow(run, await statusOf(run)));
    await writeList(deps, { resource: RUNS, count }, rows);
    if (rows.length === 0) await writeNote(deps, "no import is recorded in this folder");
  },
});
