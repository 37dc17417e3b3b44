import type { ImportTable } from "../table/open-table.ts";
import type { CheckReport } from "../check/check.ts";
import type { ImportRow, RowProblem, SendMode } from "../check/row-kind.ts";
import type { JournalState } from "./journal-state.ts";
import type { OutcomeName } from "./outcome.ts";

export interface RowToSend extends ImportRow {
  readonly position: number;
  /** When a previous run may have sent the row, by the service's clock; null if no run did. */
  readonly previousIntentAt: number | null;
  readonly wasUnknown: boolean;
  readonly noRepeat: boolean;
}

export type Decision =
  | { readonly kind: "send"; readonly row: RowToSend }
  | { readonly kind: "settled"; readonly outcome: OutcomeName }
  | { readonly kind: "skip"; readonly row: Pick<ImportRow, "line" | "identifier">; readonly reason: string };

export interface RowSource {
  readonly table: ImportTable;
  /** Sending adds its entries to this state. */
  readonly before: JournalState;
  readonly skip: (line: number) => string | null;
}

export async function* decideRows({ table, before, skip }: RowSource): AsyncGenerator<Decision> {
  let position = 0;
  for await (const batch of table.rows())
    for (const row of batch) {
      const isValid = !("problems" in row);
      const reason = isValid ? skip(row.line) : describeInvalid(row.problems);
      const outcome = before.outcomeOf(row.line);
      if (isSettled(outcome, isValid)) yield { kind: "settled", outcome };
      else if (!isValid || reason !== null) yield { kind: "skip", row, reason: reason ?? "" };
      else yield { kind: "send", row: toSend(row, before, position) };
      if (reason === null) position += 1;
    }
}

function isSettled(outcome: OutcomeName | null, isValid: boolean): outcome is OutcomeName {
  return outcome !== null && !(isValid && (outcome === "unknown" || outcome === "failed"));
}

export type Plan = Record<"rows" | SendMode | "skipped" | "done", number>;

export function countDecisions(report: CheckReport, { before, skip }: RowSource): Plan {
  const plan = { rows: report.rows, emails: 0, texts: 0, quiet: 0, skipped: report.rows, done: 0 };
  for (let line = 1; line < report.end; line += 1) {
    const mode = report.modeAt(line);
    const isDone = isSettled(before.outcomeOf(line), mode !== null);
    if (!isDone && (mode === null || skip(line) !== null)) continue;
    plan[isDone || mode === null ? "done" : mode] += 1;
    plan.skipped -= 1;
  }
  return plan;
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
