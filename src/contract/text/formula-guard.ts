/** What keeps a spreadsheet from running a cell as a formula: exports and results write a `'`, imports remove it. */
import { isE164 } from "./phone.ts";

const [APOSTROPHE, EQUALS] = [39, 61];

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

/** The form in which other programs keep a spreadsheet from reading a number in a text. */
const FORMULA_OF_TEXT = /^="((?:[^"]|"")*)"$/;

/**
 * True for a text with a guard: `'+1555…`, `'=SUM`, `''=…` if it began with `'=`, and `="0123"`.
 */
export function hasGuard(cell: string): boolean {
  const first = cell.charCodeAt(0);
  return (first === APOSTROPHE && GUARDED.test(cell)) || (first === EQUALS && FORMULA_OF_TEXT.test(cell));
}

export function withoutGuard(cell: string): string {
  if (!hasGuard(cell)) return cell;
  const text = FORMULA_OF_TEXT.exec(cell)?.[1];
  return text === undefined ? cell.slice(1) : text.replaceAll('""', '"');
}
