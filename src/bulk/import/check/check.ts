/** Checks the complete file before the first request: every problem in one pass, and duplicates. */
import { hasGuard } from "../../../contract/text/formula-guard.ts";
import { InputError } from "../table/input-file.ts";
import { createLineNumbers } from "../table/line-numbers.ts";
import type { ImportTable } from "../table/open-table.ts";
import type { InputRecord } from "../table/record-parser.ts";
import { createIdentities, identityOf } from "./identities.ts";
import { findStrayQuote, watchLocales, type OddLocale, type StrayQuote } from "./oddities.ts";
import { createProblemList, type ProblemGroup } from "./problem-list.ts";
import { type ImportRow, wayOf, type Way } from "./row-kind.ts";
import { identifierOf, type ValidFields } from "./validate.ts";

export type DuplicatePolicy = "error" | "first" | "last";

export interface CheckOptions {
  /** Null: the first is used, with a warning. */
  readonly onDuplicate: DuplicatePolicy | null;
  /** Kinds of problems that are kept; the others are counted. */
  readonly maxErrors: number;
  /** Its reason is thrown when it is aborted. */
  readonly signal: AbortSignal;
}

export interface CheckReport {
  /** Records below the header. */
  readonly rows: number;
  readonly invalidRows: number;
  readonly problemCount: number;
  /** At most `maxErrors`, in the order in which they were met first. */
  readonly problems: readonly ProblemGroup[];
  /** Values of valid rows that are not saved. */
  readonly unsaved: readonly ProblemGroup[];
  readonly duplicates: Duplicates;
  /** The number of rows to be sent for each way to their people. */
  readonly ways: Readonly<Record<Way, number>>;
  readonly oddLocales: readonly OddLocale[];
  /** Valid rows in which an override counts and not the cell. */
  readonly overriddenRows: number;
  /** Cells from which a spreadsheet guard, a leading `'`, was taken. */
  readonly guardedCells: number;
  readonly strayQuotes: readonly StrayQuote[];
  /** The place where the file stops being a table; null for a sound one. */
  readonly broken: InputError | null;
}

/** The number of rows to be sent. */
export function countSendable({ rows, invalidRows, duplicates }: CheckReport): number {
  return rows - invalidRows - duplicates.size;
}

/** Lines that are not sent since the same person is on another. */
interface Duplicates {
  /** Without those that are invalid for it (`error`). */
  readonly size: number;
  /** The reason, with the other line; null for a row that is sent. */
  readonly reasonFor: (row: Pick<ImportRow, "line">) => string | null;
}

/** Reads the table once. Throws what reading it throws. */
export async function checkTable(table: ImportTable, options: CheckOptions): Promise<CheckReport> {
  const tally = createTally(table, options);
  try {
    for await (const batch of table.records()) {
      options.signal.throwIfAborted();
      for (const record of batch) tally.take(record);
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

function createTally(table: ImportTable, { onDuplicate, maxErrors }: CheckOptions): Tally {
  const { columns } = table.mapping;
  const problems = createProblemList(maxErrors);
  const unsaved = createProblemList(maxErrors);
  const others = createDuplicates();
  const identities = createIdentities(onDuplicate === "last" ? "last" : "first");
  const locales = watchLocales(columns);
  const strayQuotes: StrayQuote[] = [];
  const ways = createWays();
  const counts = { rows: 0, invalidRows: 0, overriddenRows: 0, guardedCells: 0 };
  const takeValid = (line: number, { values, overridden }: ValidFields): void => {
    if (overridden) counts.overriddenRows += 1;
    const value = table.kind.findUnsaved?.(values) ?? null;
    if (value !== null) unsaved.add(line, value);
    const before = table.kind.unique ? identities.seen(identityOf(values), line) : null;
    if (before === null || onDuplicate === "last") ways.add(line, wayOf(values));
    if (before === null) return;
    if (onDuplicate === "last") {
      others.add(before, line);
      ways.remove(before);
    } else if (onDuplicate === "error") {
      counts.invalidRows += 1;
      problems.add(line, { column: "", message: `duplicate of line ${before} (${identifierOf(values)})` });
      others.note(line, before);
    } else others.add(line, before);
  };
  return {
    take(record) {
      counts.rows += 1;
      for (const cell of record.fields) if (hasGuard(cell)) counts.guardedCells += 1;
      const stray = strayQuotes.length < STRAY_MAX ? findStrayQuote(record, columns) : null;
      if (stray !== null) strayQuotes.push(stray);
      const checked = table.checkFields(record);
      if ("values" in checked) {
        locales.take(record);
        takeValid(record.line, checked);
        return;
      }
      counts.invalidRows += 1;
      for (const problem of checked.problems) problems.add(record.line, problem);
    },
    report: (broken) => ({
      ...counts,
      problemCount: problems.count,
      problems: problems.groups,
      unsaved: unsaved.groups,
      duplicates: others,
      ways: ways.counts,
      oddLocales: locales.found,
      strayQuotes,
      broken,
    }),
  };
}

/** Warnings of one kind that are kept. */
const STRAY_MAX = 10;

interface Ways {
  readonly counts: Readonly<Record<Way, number>>;
  add(line: number, way: Way): void;
  remove(line: number): void;
}

const WAYS = ["emails", "texts", "quiet"] as const;

function createWays(): Ways {
  const byLine = createLineNumbers(Uint8Array);
  const counts = { emails: 0, texts: 0, quiet: 0 };
  return {
    counts,
    add(line, way) {
      byLine.set(line, WAYS.indexOf(way));
      counts[way] += 1;
    },
    remove(line) {
      const way = WAYS[byLine.get(line)];
      if (way !== undefined) counts[way] -= 1;
    },
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
    reasonFor: ({ line }) => (others.get(line) === 0 ? null : `duplicate of line ${others.get(line)}`),
  };
}
