/** The whole file, before the first request: every problem in one pass, and who stands in it twice. */
import { createYoungHeapLimit } from "../../../runtime/young-heap.ts";
import { createIdentityTable, identityOf } from "./identity-table.ts";
import { identifierOf } from "./judge.ts";
import { InputError } from "../table/input-error.ts";
import { createLineNumbers } from "../table/line-numbers.ts";
import { watchLocales, type OddLocale } from "./odd-locales.ts";
import type { ImportTable } from "../table/open-table.ts";
import type { InputRecord } from "../table/record-parser.ts";
import type { RowValues } from "./row-kind.ts";

export type DuplicatePolicy = "error" | "first" | "last";

export interface CheckOptions {
  /** Null: the first is used, with a warning. */
  readonly onDuplicate: DuplicatePolicy | null;
  /** The same person may answer often: responses have no duplicates. */
  readonly unique: boolean;
  /** Problems that are kept; the others are counted. */
  readonly maxErrors: number;
  /** Its reason is thrown when it is aborted. */
  readonly signal: AbortSignal;
}

export interface CheckReport {
  /** Records below the header. */
  readonly rows: number;
  readonly invalidRows: number;
  readonly problemCount: number;
  /** `file:line: column: what is wrong`, at most `maxErrors`. */
  readonly problems: readonly string[];
  readonly duplicates: Duplicates;
  readonly oddLocales: readonly OddLocale[];
  /** Where the file stops being a table; null for one that is whole. */
  readonly broken: InputError | null;
}

/** How many rows are to be sent. */
export function countSendable({ rows, invalidRows, duplicates }: CheckReport): number {
  return rows - invalidRows - duplicates.size;
}

/** Lines that are not sent since the same person stands on another. */
export interface Duplicates {
  /** Without those that are invalid for it (`error`). */
  readonly size: number;
  /** Names the other line; null for a line that is sent. */
  reasonFor(line: number): string | null;
}

/** Reads the table once. Throws what reading it throws. */
export async function checkTable(table: ImportTable, options: CheckOptions): Promise<CheckReport> {
  const tally = createTally(table, options);
  const limitYoungHeap = createYoungHeapLimit();
  try {
    for await (const batch of table.records()) {
      options.signal.throwIfAborted();
      for (const record of batch) tally.take(record);
      limitYoungHeap();
    }
  } catch (error) {
    if (error instanceof InputError) return tally.report(error);
    throw error;
  }
  return tally.report(null);
}

interface Tally {
  take(record: InputRecord): void;
  report(broken: InputError | null): CheckReport;
}

function createTally(table: ImportTable, { onDuplicate, unique, maxErrors }: CheckOptions): Tally {
  const problems: string[] = [];
  const others = createDuplicates();
  const identities = createIdentityTable({
    expected: unique ? table.expectedRows : 0,
    remember: onDuplicate === "last" ? "last" : "first",
  });
  const locales = watchLocales(table.mapping.columns);
  const counts = { rows: 0, invalidRows: 0, problemCount: 0 };
  const complain = (line: number, column: string, message: string): void => {
    counts.problemCount += 1;
    if (problems.length < maxErrors)
      problems.push(`${table.input.name}:${line}: ${column === "" ? "" : `${column}: `}${message}`);
  };
  const takeValid = (line: number, values: RowValues): void => {
    const before = unique ? identities.seen(identityOf(values), line) : null;
    if (before === null) return;
    if (onDuplicate === "last") others.add(before, line);
    else if (onDuplicate === "error") {
      counts.invalidRows += 1;
      complain(line, "", `${identifierOf(values)} stands on line ${before} already`);
      others.note(line, before);
    } else others.add(line, before);
  };
  return {
    take(record) {
      counts.rows += 1;
      const reading = table.read(record);
      if ("values" in reading) {
        locales.take(record);
        takeValid(record.line, reading.values);
        return;
      }
      counts.invalidRows += 1;
      for (const { column, message } of reading.problems) complain(record.line, column, message);
    },
    report: (broken) => ({ ...counts, problems, duplicates: others, oddLocales: locales.found, broken }),
  };
}

interface DuplicateNotes extends Duplicates {
  add(line: number, other: number): void;
  /** Not counted in `size`. */
  note(line: number, other: number): void;
}

function createDuplicates(): DuplicateNotes {
  const others = createLineNumbers(Uint32Array);
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(line, other) {
      others.set(line, other);
      size += 1;
    },
    note: (line, other) => others.set(line, other),
    reasonFor: (line) => (others.get(line) === 0 ? null : `the same person as on line ${others.get(line)}`),
  };
}
