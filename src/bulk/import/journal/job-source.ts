/**
 * Which rows still have something to be done, given what previous runs did; and what the others count as. Failed rows
 * are tried again: a service that was out of order has failed many.
 */
import type { ImportTable } from "../table/open-table.ts";
import type { ImportRow, RowProblem } from "../check/row-kind.ts";
import type { JournalState } from "./journal-state.ts";
import type { OutcomeName } from "./outcome.ts";

export interface Job {
  readonly row: ImportRow;
  /** When a previous run may have sent it, the service's time; null when none can have. */
  readonly previousIntentAt: number | null;
  /** A previous run could not find out what became of it. */
  readonly wasUnknown: boolean;
  /** It is sent again only when that is asked for. */
  readonly noRepeat: boolean;
  /** Counts the rows that are sent, from 0. */
  readonly position: number;
}

export type Decision =
  | { readonly kind: "job"; readonly job: Job }
  /** Nothing to do: a previous run settled it. */
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
  for await (const batch of table.validated()) {
    for (const { record, validation } of batch) {
      const { line } = record;
      const row = "row" in validation ? validation.row : null;
      const reason = "row" in validation ? skip(validation.row) : describeInvalid(validation.problems);
      if (reason === null) position += 1;
      const outcome = before.outcomeOf(line);
      if (outcome !== null && !(isOpen(outcome) && row !== null)) yield { kind: "settled", outcome };
      else if (row === null || reason !== null)
        yield { kind: "skip", line, identifier: row?.identifier ?? "", reason: reason ?? "" };
      else yield { kind: "job", job: toJob(row, before, position - 1) };
    }
  }
}

/** True when a row with this outcome is worth another try. */
function isOpen(outcome: OutcomeName): boolean {
  return outcome === "unknown" || outcome === "failed";
}

function toJob(row: ImportRow, before: JournalState, position: number): Job {
  const outcome = before.outcomeOf(row.line);
  const wasRefused = outcome === "failed" && !before.mayHaveArrived(row.line);
  return {
    row,
    previousIntentAt: wasRefused ? null : before.intentAt(row.line),
    wasUnknown: outcome === "unknown" || before.mayHaveArrived(row.line),
    noRepeat: before.noRepeat(row.line),
    position,
  };
}

function describeInvalid(problems: readonly RowProblem[]): string {
  const texts = problems.map(({ column, message }) => (column === "" ? message : `${column}: ${message}`));
  return `invalid: ${texts.join("; ")}`;
}
