import { countOf, writeDone, writeNote } from "../../kit/notes.ts";
import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { toResource } from "../../render/columns.ts";
import { openListOutput } from "../../render/list-output.ts";
import { findRuns, removeJournal, RUNS_ARG, statusOf } from "./runs.ts";

const JOURNALS = toResource("journals", { journal: "text" });

export const clean = defineCommand({
  name: "clean",
  summary: "remove the journals of finished imports; results stay",
  args: { file: RUNS_ARG },
  examples: ["surveyctl imports clean", "surveyctl imports clean customers.csv --dry-run"],
  exits: [EXIT.done, EXIT.usage, EXIT.refused],
  columns: JOURNALS,
  run: async (deps, { file }) => {
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
    await writeDone(deps, `${dryRun ? "Would remove" : "Removed"} ${countOf(removed, "journal", "journals")}.`);
    if (kept > 0)
      await writeNote(
        deps,
        `${countOf(kept, "import is not finished", "imports are not finished")}: see surveyctl imports list`,
      );
  },
});
