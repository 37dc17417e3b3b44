/**
 * Which rows still have something to be done, given what previous runs did; and what the others count as. Failed rows
 * are tried again: a service that was out of order has failed many.
 */
import type { ImportTable } from "../table/open-table.ts";
import type { ImportRow, RowProblem } from "../check/row-kind.ts";
import type { JournalState } from "./journal-state.ts";
import type { OutcomeName } from "./outcome.ts";

/** A row that is to be sent, with what previous runs know of it. */
export interface RowToSend extends ImportRow {
  /** Counts the rows that are sent, from 0. */
  readonly position: number;
  /** When a previous run may have sent it, the service's time; null when none can have. */
  readonly previousIntentAt: number | null;
  /** A previous run could not find out what became of it. */
  readonly wasUnknown: boolean;
  /** It is sent again only when that is asked for. */
  readonly noRepeat: boolean;
}

export type Decision =
  | { readonly kind: "send"; readonly row: RowToSend }
  /** Nothing to do: a previous run settled it. */
  | { readonly kind: "settled"; readonly outcome: OutcomeName }
  | { readonly kind: "skip"; readonly row: Pick<ImportRow, "line" | "identifier">; readonly reason: string };

export interface RowSource {
  readonly table: ImportTable;
  readonly before: JournalState;
  /** The reason why a row is not to be sent; null for one that is. */
  readonly skip: (row: ImportRow) => string | null;
}

/** Every row of the table in its order. */
export async function* decideRows({ table, before, skip }: RowSource): AsyncGenerator<Decision> {
  let position = 0;
  for await (const batch of table.rows())
    for (const row of batch) {
      const isValid = !("problems" in row);
      const reason = isValid ? skip(row) : describeInvalid(row.problems);
      const outcome = before.outcomeOf(row.line);
      if (outcome !== null && !(isOpen(outcome) && isValid)) yield { kind: "settled", outcome };
      else if (!isValid || reason !== null) yield { kind: "skip", row, reason: reason ?? "" };
      else yield { kind: "send", row: toSend(row, before, position) };
      if (reason === null) position += 1;
    }
}

/** True when a row with this outcome is worth another try. */
function isOpen(outcome: OutcomeName): boolean {
  return outcome === "unknown" || outcome === "failed";
}

function toSend(row: ImportRow, before: JournalState, position: number): RowToSend {
  const outcome = before.outcomeOf(row.line);
  const wasRefused = outcome === "failed" && !before.mayHaveArrived(row.line);
  return {
    ...row,
    position,
    previousIntentAt: wasRefused ? null : before.intentAt(row.line),
    wasUnknown: outcome === "unknown" || before.mayHaveArrived(row.line),
    noRepeat: before.noRepeat(row.line),
  };
}

function describeInvalid(problems: readonly RowProblem[]): string {
  const texts = problems.map(({ column, message }) => (column === "" ? message : `${column}: ${message}`));
  return `invalid: ${texts.join("; ")}`;
}
