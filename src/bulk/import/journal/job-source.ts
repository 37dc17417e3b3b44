/**
 * Which rows still have something to be done, given what former runs did; and what the others count as. What failed is
 * tried again, since a service that was out of order has failed many.
 */
import type { JournalState } from "./journal-state.ts";
import type { ImportTable } from "../table/open-table.ts";
import type { OutcomeName } from "./outcome.ts";
import type { ImportRow, RowProblem } from "../check/row-kind.ts";

export interface Job {
  readonly row: ImportRow;
  /** When a former run may have sent it, the service's time; null when none can have. */
  readonly meantAt: number | null;
  /** A former run could not find out what became of it. */
  readonly wasUnknown: boolean;
  /** Counts the rows that are sent, from 0. */
  readonly position: number;
}

export type Decision =
  | { readonly kind: "job"; readonly job: Job }
  /** Nothing to do: a former run settled it. */
  | { readonly kind: "settled"; readonly outcome: OutcomeName }
  | { readonly kind: "skip"; readonly line: number; readonly identifier: string; readonly reason: string };

export interface JobOptions {
  readonly table: ImportTable;
  readonly before: JournalState;
  /** Why a row is not to be sent; null for one that is. */
  readonly skip: (row: ImportRow) => string | null;
}

/** Every record of the table in its order. */
export async function* decideRows({ table, before, skip }: JobOptions): AsyncGenerator<Decision> {
  let position = 0;
  for await (const batch of table.judged()) {
    for (const { record, verdict } of batch) {
      const { line } = record;
      const outcome = before.outcomeOf(line);
      const row = "row" in verdict ? verdict.row : null;
      const reason = "row" in verdict ? skip(verdict.row) : describeInvalid(verdict.problems);
      if (reason === null) position += 1;
      const wasUnknown = outcome === "unknown" && row !== null;
      const isOpen = outcome === null || wasUnknown || (outcome === "failed" && row !== null);
      if (!isOpen) yield { kind: "settled", outcome };
      else if (row === null || reason !== null)
        yield { kind: "skip", line, identifier: row?.identifier ?? "", reason: reason ?? "" };
      else
        yield {
          kind: "job",
          job: {
            row,
            meantAt: outcome === "failed" ? null : before.intentAt(line),
            wasUnknown,
            position: position - 1,
          },
        };
    }
  }
}

function describeInvalid(problems: readonly RowProblem[]): string {
  return `invalid: ${problems.map(({ column, message }) => (column === "" ? message : `${column}: ${message}`)).join("; ")}`;
}
