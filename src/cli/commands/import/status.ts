import type { Command } from "commander";
import type { JsonObject } from "../../../contract/json.ts";
import type { CommandContext } from "../../command/command-context.ts";
import type { Deps } from "../../command/deps.ts";
import { writeNote } from "../../command/notes.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { openListOutput } from "../../render/list-output.ts";
import { findRuns, RUNS, statusOf, toRow } from "./runs.ts";

export function registerStatus(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "status",
    summary: "list imports recorded here, with the outcomes of their rows",
    operands: [["[file]", "an imported file, its results, or a folder (default this folder)"]],
    examples: ["surveyctl import status", "surveyctl import status customers.csv --json"],
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    columns: RUNS,
  });
  context.action(command, (deps, _flags, [file]) => runStatus(deps, file ?? null));
}

/** Throws NotFoundError for a file of which no import is recorded. */
export async function runStatus(deps: Deps, file: string | null): Promise<ExitCode> {
  const rows: JsonObject[] = [];
  for (const run of await findRuns(file)) rows.push(toRow(run, await statusOf(run, deps)));
  const output = await openListOutput(deps, { resource: RUNS });
  await output.write({ rows, text: JSON.stringify(rows) });
  await output.end();
  if (rows.length === 0) await writeNote(deps, "no import is recorded in this folder");
  return EXIT.done;
}
