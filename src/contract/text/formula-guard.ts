/** Keeps spreadsheets from running cells as formulas: exports prepend `'`, and imports remove it. */
import { isE164 } from "./phone.ts";

const [APOSTROPHE, EQUALS] = [39, 61];

/**
 * A cell that a spreadsheet may run: a formula character, possibly after characters that readers skip, or a leading tab
 * or newline.
 */
const FORMULA = String.raw`(?:[\s"\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|[\t\n\r])`;
const RUNS = new RegExp(`^'*${FORMULA}`, "u");
const GUARDED = new RegExp(`^'+${FORMULA}`, "u");

/** Prepends `'` to a cell that may run, or that already has a guard, so that an import restores it exactly. */
export function guardFormula(cell: string): string {
  return RUNS.test(cell) ? `'${cell}` : cell;
}

export function guardPhone(cell: string): string {
  return isE164(cell) ? cell : guardFormula(cell);
}

/** Other programs write text like this so that spreadsheets don't read it as a number. */
const FORMULA_OF_TEXT = /^="((?:[^"]|"")*)"$/;

/** True for `'+1555…`, `'=SUM`, `''=…` (a text that began with `'=`) and `="0123"`. */
export function hasGuard(cell: string): boolean {
  const first = cell.charCodeAt(0);
  return (first === APOSTROPHE && GUARDED.test(cell)) || (first === EQUALS && FORMULA_OF_TEXT.test(cell));
}

export function withoutGuard(cell: string): string {
  if (!hasGuard(cell)) return cell;
  const text = FORMULA_OF_TEXT.exec(cell)?.[1];
  return text === undefined ? cell.slice(1) : text.replaceAll('""', '"');
}
