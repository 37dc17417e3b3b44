/** The results file and the rows that did not go through, made from the journal. */
import { open, type FileHandle } from "node:fs/promises";
import { stringify } from "csv-stringify/sync";
import { parseOutcome, type JournalState } from "./journal-state.ts";
import type { ImportTable } from "./open-table.ts";
import type { RecordedOutcome } from "./outcome.ts";

export const RESULT_COLUMNS = ["line", "identifier", "outcome", "person_id", "survey_scheduled_at", "error"] as const;

/** CSV text in pieces, in the order of the input; rows without an outcome are not in it. `time` writes Unix seconds. */
export async function* resultsCsv(
  table: ImportTable,
  journalFile: string,
  state: JournalState,
  time: (seconds: number) => string,
): AsyncGenerator<string> {
  yield stringify([[...RESULT_COLUMNS]]);
  for await (const batch of withOutcomes(table, journalFile, state)) {
    const rows = batch.flatMap(({ outcome }) => (outcome === null ? [] : [toResult(outcome, time)]));
    if (rows.length > 0) yield stringify(rows);
  }
}

function toResult(outcome: RecordedOutcome, time: (seconds: number) => string): (string | number)[] {
  const { line, identifier, outcome: name, personId, surveyScheduledAt, error } = outcome;
  return [line, identifier, name, personId ?? "", surveyScheduledAt === null ? "" : time(surveyScheduledAt), error ?? ""];
}

/** The input's own header and cells of rows that failed, are unknown, or were invalid: to be corrected and imported. */
export async function* failedCsv(table: ImportTable, journalFile: string, state: JournalState): AsyncGenerator<string> {
  yield stringify([[...table.headers]]);
  for await (const batch of withOutcomes(table, journalFile, state)) {
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

async function* withOutcomes(table: ImportTable, journalFile: string, state: JournalState): AsyncGenerator<Finished[]> {
  const reader = createLineReader(await open(journalFile, "r"));
  try {
    for await (const batch of table.judged()) {
      const finished: Finished[] = [];
      for (const { record } of batch) {
        const place = state.placeOf(record.line);
        finished.push({ fields: record.fields, outcome: place === null ? null : parseOutcome(await reader.lineAt(place)) });
      }
      yield finished;
    }
  } finally {
    await reader.close();
  }
}

const WINDOW_BYTES = 256 * 1024;

/** Single lines of a large file; neighbours come from one read. */
function createLineReader(handle: FileHandle): { lineAt(place: number): Promise<string>; close(): Promise<void> } {
  let window = Buffer.alloc(0);
  let start = 0;
  const load = async (place: number, bytes: number): Promise<void> => {
    const buffer = Buffer.alloc(bytes);
    const { bytesRead } = await handle.read(buffer, 0, bytes, place);
    window = buffer.subarray(0, bytesRead);
    start = place;
  };
  const endOf = (place: number): number => (place < start ? -1 : window.indexOf(10, place - start));
  return {
    async lineAt(place) {
      for (let bytes = WINDOW_BYTES; endOf(place) === -1; bytes *= 4) {
        const known = window.length;
        await load(place, bytes);
        if (endOf(place) === -1 && window.length === known && window.length < bytes) return "";
      }
      return window.toString("utf8", place - start, endOf(place));
    },
    close: () => handle.close(),
  };
}
