/** The whole file, before the first request: every problem in one pass, and who stands in it twice. */
import { createIdentityTable, identityOf } from "./identity-table.ts";
import type { ImportTable } from "./open-table.ts";
import type { ImportRow } from "./row-kind.ts";

export type DuplicatePolicy = "error" | "first" | "last";

export interface CheckOptions {
  /** Null: the first is used, with a warning. */
  readonly onDuplicate: DuplicatePolicy | null;
  /** The same person may answer often: responses have no duplicates. */
  readonly unique: boolean;
  /** Problems that are kept; the others are counted. */
  readonly maxErrors: number;
  readonly onRow?: (row: ImportRow) => void;
}

export interface CheckReport {
  /** Records below the header. */
  readonly rows: number;
  readonly invalidRows: number;
  readonly problemCount: number;
  /** `file:line: column: what is wrong`, at most `maxErrors`. */
  readonly problems: readonly string[];
  /** Lines that are not sent since the same person stands on another; the reason names that line. */
  readonly duplicates: ReadonlyMap<number, string>;
}

export async function checkTable(table: ImportTable, options: CheckOptions): Promise<CheckReport> {
  const problems: string[] = [];
  const duplicates = new Map<number, string>();
  const identities = createIdentityTable();
  const lastLines = new Map<number, number>();
  const counts = { rows: 0, invalidRows: 0, problemCount: 0 };
  const complain = (line: number, column: string, message: string): void => {
    counts.problemCount += 1;
    if (problems.length < options.maxErrors) problems.push(`${table.input.name}:${line}: ${column === "" ? "" : `${column}: `}${message}`);
  };
  for await (const batch of table.judged()) {
    for (const { record, verdict } of batch) {
      counts.rows += 1;
      if ("problems" in verdict) {
        counts.invalidRows += 1;
        for (const { column, message } of verdict.problems) complain(record.line, column, message);
        continue;
      }
      const before = options.unique ? identities.seen(identityOf(verdict.row.values), record.line) : null;
      if (before === null) options.onRow?.(verdict.row);
      else if (options.onDuplicate === "error") {
        counts.invalidRows += 1;
        complain(record.line, "", `${verdict.row.identifier} stands on line ${before} already`);
      } else noteDuplicate(duplicates, lastLines, { line: record.line, before, last: options.onDuplicate === "last" });
    }
  }
  return { ...counts, problems, duplicates };
}

interface Repeat {
  readonly line: number;
  /** The first line of this person. */
  readonly before: number;
  readonly last: boolean;
}

function noteDuplicate(duplicates: Map<number, string>, lastLines: Map<number, number>, { line, before, last }: Repeat): void {
  if (!last) {
    duplicates.set(line, `the same person as on line ${before}`);
    return;
  }
  duplicates.set(lastLines.get(before) ?? before, `the same person as on line ${line}`);
  lastLines.set(before, line);
}
