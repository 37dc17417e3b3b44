import { OUTCOMES } from "../../../bulk/import/journal/outcome.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { countOf } from "../../../contract/text/whole-number.ts";
import { writeDone, writeNote } from "../../kit/notes.ts";
import { YES_FLAG } from "../../kit/removal.ts";
import { COUNT_FLAG } from "../../kit/rows/list-rows.ts";
import { pathColumn, type Resource, toResource } from "../../render/columns.ts";
import { openListOutput, writeList } from "../../render/list-output.ts";

const RUNS: Resource = {
  noun: "imports",
  columns: [
    pathColumn("file", "text"),
    pathColumn("command", "text"),
    pathColumn("status", "text"),
    ...["rows", ...OUTCOMES, "remaining"].map((name) => pathColumn(name, "number")),
    pathColumn("started_at", "time"),
    pathColumn("base_url", "text"),
    pathColumn("results", "text"),
  ],
  table: ["file", "command", "status", "rows", ...OUTCOMES, "remaining", "started_at"],
  dropFirst: ["started_at", "pending", "suppressed", "throttled", "skipped", "saved", "scheduled"],
};

const RUNS_ARG = {
  form: "[file]",
  text: "an imported file, its results, or a folder (default this folder)",
} as const;

const list = defineCommand({
  name: "list",
  summary: "list imports recorded here, with the outcomes of their rows",
  args: { file: RUNS_ARG },
  examples: ["surveyctl imports list", "surveyctl imports list customers.csv --json"],
  exits: [EXIT.done, EXIT.usage, EXIT.refused],
  flags: { count: COUNT_FLAG },
  columns: RUNS,
  run: async (deps, { file, count }) => {
    const { findRuns, statusOf, toRow } = await import("./runs.ts");
    const rows: JsonObject[] = [];
    for (const run of await findRuns(file)) rows.push(toRow(run, await statusOf(run)));
    await writeList(deps, { resource: RUNS, count }, rows);
    if (rows.length === 0) await writeNote(deps, "no import is recorded in this folder");
  },
});

const UNDONE: Resource = {
  ...toResource("rows", { line: "number", identifier: "text", outcome: "text", error: "text" }),
  flexible: "error",
};

const JOURNALS = toResource("journals", { journal: "text" });

const clean = defineCommand({
  name: "clean",
  summary: "remove the journals of finished imports; results stay",
  args: { file: RUNS_ARG },
  examples: ["surveyctl imports clean", "surveyctl imports clean customers.csv --dry-run"],
  exits: [EXIT.done, EXIT.usage, EXIT.refused],
  columns: JOURNALS,
  run: async (deps, { file }) => {
    const { findRuns, removeJournal, statusOf } = await import("./runs.ts");
    const { dryRun } = deps.options;
    let kept = 0;
    let removed = 0;
    const output = await openListOutput(deps, { resource: JOURNALS });
    for (const run of await findRuns(file)) {
      const goes = (await statusOf(run)) === "finished" && (dryRun || (await removeJournal(run, deps)));
      if (!goes) {
        kept += 1;
        continue;
      }
      const rows = [{ journal: run.files.journal }];
      await output.write({ rows, text: JSON.stringify(rows) });
      removed += 1;
    }
    await output.end();
    await writeDone(deps, `${dryRun ? "Would remove" : "Removed"} ${countOf(removed, "journal")}.`);
    if (kept > 0)
      await writeNote(
        deps,
        `${countOf(kept, "import is not finished", "imports are not finished")}: see surveyctl imports list`,
      );
  },
});

const undo = defineCommand({
  name: "undo",
  summary: "undo an import, except for data that has changed since; lists what is kept",
  args: { file: { form: "<file>", text: "the import's results or journal, or its file" } },
  examples: ["surveyctl imports undo customers.csv --dry-run", "surveyctl imports undo results.csv --yes"],
  exits: [EXIT.done, EXIT.failed, EXIT.partial, EXIT.auth, EXIT.refused],
  flags: { yes: YES_FLAG },
  columns: UNDONE,
  run: async (deps, { file, yes }) => {
    const { undoImport } = await import("./undo.ts");
    return undoImport(deps, file, UNDONE, yes);
  },
});

export const commands = [list, undo, clean];
