/** The results file and the rows that did not go through, made from the journal. */
import { stringify } from "csv-stringify/sync";
import { guardFormula, guardPhone } from "../../../contract/text/formula-guard.ts";
import type { ImportTable } from "../table/open-table.ts";
import type { RecordedOutcome } from "./outcome.ts";
import type { RecordedOutcomes } from "./recorded-outcomes.ts";

const RESULT_COLUMNS = ["line", "identifier", "outcome", "person_id", "survey_scheduled_at", "error"] as const;

/**
 * CSV text in chunks, in the order of the input; rows without an outcome are not in it. `time` writes Unix seconds.
 * Cells that hold text from the input or the service are guarded: the file is made to be opened in a spreadsheet.
 */
export async function* resultsCsv(
  outcomes: RecordedOutcomes,
  time: (seconds: number) => string,
): AsyncGenerator<string> {
  yield stringify([[...RESULT_COLUMNS]]);
  for await (const batch of outcomes.inOrder()) yield stringify(batch.map((outcome) => toResult(outcome, time)));
}

function toResult(outcome: RecordedOutcome, time: (seconds: number) => string): (string | number)[] {
  const { line, identifier, outcome: name, personId, surveyScheduledAt, error } = outcome;
  return [
    line,
    guardPhone(identifier),
    name,
    guardFormula(personId ?? ""),
    surveyScheduledAt === null ? "" : time(surveyScheduledAt),
    guardFormula(error ?? ""),
  ];
}

/**
 * The header and cells of rows that failed or were invalid, to be corrected and imported; also those that were moved to
 * this `file` before. Not those that may have arrived: unknown ones, and some of those that failed.
 */
export function failedCsv(table: ImportTable, outcomes: RecordedOutcomes, file: string): AsyncGenerator<string> {
  return recordsCsv(table, async (line) => {
    const outcome = await outcomes.of(line);
    return outcome !== null && (didNotGoThrough(outcome) || isMovedTo(file, outcome));
  });
}

/** The rows that are being moved to this `file`, and those that were before. */
export function movedCsv(
  table: ImportTable,
  outcomes: RecordedOutcomes,
  { file, isMoved }: { readonly file: string; readonly isMoved: (line: number) => boolean },
): AsyncGenerator<string> {
  return recordsCsv(table, async (line) => {
    const outcome = isMoved(line) ? null : await outcomes.of(line);
    return isMoved(line) || (outcome !== null && isMovedTo(file, outcome));
  });
}

/** The reason of a row that is skipped because another import is to send it. */
export function movedReason(file: string): string {
  return `not sent: moved to ${file}`;
}

function isMovedTo(file: string, { outcome, error }: RecordedOutcome): boolean {
  return outcome === "skipped" && error === movedReason(file);
}

/** The header and cells of the lines that are wanted, as they are in the input. */
async function* recordsCsv(table: ImportTable, isWanted: (line: number) => Promise<boolean>): AsyncGenerator<string> {
  // A line of one empty cell is quoted: a blank line is not a row.
  const options = { quoted_empty: table.headers.length === 1 };
  yield stringify([[...table.headers]], options);
  for await (const batch of table.records()) {
    const rows: string[][] = [];
    for (const { line, fields } of batch) if (await isWanted(line)) rows.push([...fields]);
    if (rows.length > 0) yield stringify(rows, options);
  }
}

function didNotGoThrough({ outcome, error, mayHaveArrived = false }: RecordedOutcome): boolean {
  return (outcome === "failed" && !mayHaveArrived) || (outcome === "skipped" && (error ?? "").startsWith("invalid: "));
}
