import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { Deps } from "../../command/deps.ts";
import { COUNT_FLAG } from "../../command/list-rows.ts";
import { countOf, writeDone, writeNote } from "../../command/notes.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { openListOutput } from "../../render/list-output.ts";
import { findRuns, JOURNALS, removeJournal, RUNS, statusOf, toRow } from "./runs.ts";

export function register(noun: Command, context: CommandContext): void {
  for (const add of [registerImportsList, registerClean]) add(noun, context);
}

export function registerImportsList(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list imports recorded here, with the outcomes of their rows",
    operands: [["[file]", "an imported file, its results, or a folder (default this folder)"]],
    examples: ["surveyctl imports list", "surveyctl imports list customers.csv --json"],
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    flags: [COUNT_FLAG],
    columns: RUNS,
  });
  context.action(command, (deps, flags, [file]) =>
    runImportsList(deps, { file: file ?? null, count: flags.is("--count") }),
  );
}

/** Throws NotFoundError for a file of which no import is recorded. */
export async function runImportsList(
  deps: Deps,
  { file, count }: { readonly file: string | null; readonly count: boolean },
): Promise<ExitCode> {
  const rows: JsonObject[] = [];
  for (const run of await findRuns(file)) rows.push(toRow(run, await statusOf(run)));
  const output = await openListOutput(deps, { resource: RUNS, count });
  await output.write({ rows, text: JSON.stringify(rows) });
  await output.end();
  if (rows.length === 0) await writeNote(deps, "no import is recorded in this folder");
  return EXIT.done;
}

export function registerClean(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "clean",
    summary: "remove the journals of finished imports; results stay",
    operands: [["[file]", "an imported file, its results, or a folder (default this folder)"]],
    examples: ["surveyctl imports clean", "surveyctl imports clean customers.csv --dry-run"],
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    columns: JOURNALS,
  });
  context.action(command, (deps, _flags, [file]) => runClean(deps, file ?? null));
}

/** Journals of finished imports go, and are printed. Throws NotFoundError as `imports list` does. */
export async function runClean(deps: Deps, file: string | null): Promise<ExitCode> {
  let kept = 0;
  let removed = 0;
  const output = await openListOutput(deps, { resource: JOURNALS });
  for (const run of await findRuns(file)) {
    const goes = (await statusOf(run)) === "finished" && (deps.options.dryRun || (await removeJournal(run, deps)));
    if (!goes) {
      kept += 1;
      continue;
    }
    const rows = [{ journal: run.files.journal }];
    await output.write({ rows, text: JSON.stringify(rows) });
    removed += 1;
  }
  await output.end();
  const verb = deps.options.dryRun ? "Would remove" : "Removed";
  await writeDone(deps, `${verb} ${countOf(removed, "journal", "journals")}.`);
  if (kept > 0)
    await writeNote(
      deps,
      `${countOf(kept, "import is not finished", "imports are not finished")}: see surveyctl imports list`,
    );
  return EXIT.done;
}
