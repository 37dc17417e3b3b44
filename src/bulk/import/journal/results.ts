import { stringify } from "csv-stringify/sync";
import { isJsonObject } from "../../../contract/json.ts";
import { guardFormula, guardPhone } from "../../../contract/text/formula-guard.ts";
import type { ImportTable } from "../table/open-table.ts";
import type { RecordedOutcome } from "./outcome.ts";
import type { RecordedOutcomes } from "./recorded-outcomes.ts";

const RESULT_COLUMNS = [
  "line",
  "identifier",
  "outcome",
  "person_id",
  "survey_scheduled_at",
  "error",
  "person",
  "before",
] as const;

/** Cells are guarded against formulas, because people open the file in a spreadsheet. */
export async function* resultsCsv(
  outcomes: RecordedOutcomes,
  time: (seconds: number) => string,
): AsyncGenerator<string> {
  yield stringify([[...RESULT_COLUMNS]]);
  for await (const batch of outcomes.inOrder()) yield stringify(batch.map((outcome) => toResult(outcome, time)));
}

function toResult(outcome: RecordedOutcome, time: (seconds: number) => string): (string | number)[] {
  const { line, identifier, outcome: name, personId, surveyScheduledAt, error, writes = [] } = outcome;
  const before = writes.find((write) => write.before !== undefined)?.before;
  return [
    line,
    guardPhone(identifier),
    name,
    guardFormula(personId ?? ""),
    surveyScheduledAt === null ? "" : time(surveyScheduledAt),
    guardFormula(error ?? ""),
    before === undefined ? "" : before === null ? "created" : "updated",
    isJsonObject(before) && Object.keys(before).length > 0 ? JSON.stringify(before) : "",
  ];
}

/** The rows to correct and import again. */
export async function* failedCsv(table: ImportTable, outcomes: RecordedOutcomes): AsyncGenerator<string> {
  // Quotes an empty cell, because readers skip blank lines.
  const options = { quoted_empty: table.headers.length === 1 };
  yield stringify([[...table.headers]], options);
  for await (const batch of table.records()) {
    const rows: string[][] = [];
    for (const { line, fields } of batch) {
      const outcome = await outcomes.of(line);
      if (outcome !== null && didNotGoThrough(outcome)) rows.push([...fields]);
    }
    if (rows.length > 0) yield stringify(rows, options);
  }
}

function didNotGoThrough({ outcome, error, mayHaveArrived = false }: RecordedOutcome): boolean {
  return (outcome === "failed" && !mayHaveArrived) || (outcome === "skipped" && (error ?? "").startsWith("invalid: "));
}
