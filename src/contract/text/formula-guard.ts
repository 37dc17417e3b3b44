/**
 * The `'` that keeps a spreadsheet from running a cell as a formula: written by exports and results, removed by
 * imports.
 */
import { isE164 } from "./phone.ts";

const APOSTROPHE = 39;

/**
 * A cell that a spreadsheet may run: a sign that begins a formula, full width too, behind whatever a reader leaves out
 * (blanks, line ends, controls, quotes), or a control that separates cells or lines at the start.
 */
const FORMULA = String.raw`(?:[\s"\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|[\t\n\r])`;
const RUNS = new RegExp(`^'*${FORMULA}`, "u");
const GUARDED = new RegExp(`^'+${FORMULA}`, "u");

/**
 * The cell with a `'` where a spreadsheet may run it; one that has its `'` already gets another, which an import
 * removes.
 */
export function guardFormula(cell: string): string {
  return RUNS.test(cell) ? `'${cell}` : cell;
}

/** The same for a cell that may hold a phone number: the `+` of an E.164 number begins no formula. */
export function guardPhone(cell: string): string {
  return isE164(cell) ? cell : guardFormula(cell);
}

/** True when a guard (`'+1555…`, `'=SUM`, and `''=…` for a text that began with `'=`) precedes the text. */
export function hasGuard(cell: string): boolean {
  return cell.charCodeAt(0) === APOSTROPHE && GUARDED.test(cell);
}

export function withoutGuard(cell: string): string {
  return hasGuard(cell) ? cell.slice(1) : cell;
}
