/** The results file and the rows that did not go through, made from the journal. */
import { stringify } from "csv-stringify/sync";
import type { ImportTable } from "./open-table.ts";
import type { RecordedOutcome } from "./outcome.ts";
import type { RecordedOutcomes } from "./recorded-outcomes.ts";

export const RESULT_COLUMNS = ["line", "identifier", "outcome", "person_id", "survey_scheduled_at", "error"] as const;

/** CSV text in pieces, in the order of the input; rows without an outcome are not in it. `time` writes Unix seconds. */
export async function* resultsCsv(
  table: ImportTable,
  outcomes: RecordedOutcomes,
  time: (seconds: number) => string,
): AsyncGenerator<string> {
  yield stringify([[...RESULT_COLUMNS]]);
  for await (const batch of withOutcomes(table, outcomes)) {
    const rows = batch.flatMap(({ outcome }) => (outcome === null ? [] : [toResult(outcome, time)]));
    if (rows.length > 0) yield stringify(rows);
  }
}

function toResult(outcome: RecordedOutcome, time: (seconds: number) => string): (string | number)[] {
  const { line, identifier, outcome: name, personId, surveyScheduledAt, error } = outcome;
  return [line, identifier, name, personId ?? "", surveyScheduledAt === null ? "" : time(surveyScheduledAt), error ?? ""];
}

/** The input's own header and cells of rows that failed, are unknown, or were invalid: to be corrected and imported. */
export async function* failedCsv(table: ImportTable, outcomes: RecordedOutcomes): AsyncGenerator<string> {
  yield stringify([[...table.headers]]);
  for await (const batch of withOutcomes(table, outcomes)) {
    const rows = batch.flatMap(({ outcome, fields }) => (outcome !== null && didNotGoThrough(outcome) ? [[...fields]] : []));
    if (rows.length > 0) yield stringify(rows);
  }
}

function didNotGoThrough({ outcome, error }: RecordedOutcome): boolean {
  return outcome === "failed" || outcome === "unknown" || (outcome === "skipped" && (error ?? "").startsWith("invalid: "));
}

interface Finished {
  readonly fields: readonly string[];
  readonly outcome: RecordedOutcome | null;
}

async function* withOutcomes(table: ImportTable, outcomes: RecordedOutcomes): AsyncGenerator<Finished[]> {
  for await (const batch of table.records()) {
    const finished: Finished[] = [];
    for (const { line, fields } of batch) finished.push({ fields, outcome: await outcomes.of(line) });
    yield finished;
  }
}
