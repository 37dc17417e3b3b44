/** The `'` that keeps a spreadsheet from running a cell as a formula: written by exports and results, removed by imports. */
import { isE164 } from "./phone.ts";

const APOSTROPHE = 39;

/** A spreadsheet runs a cell that begins like this. A cell that already has its `'` gets another, which an import removes. */
export function guardFormula(cell: string): string {
  return /^'?[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}

/** The same for a cell that may hold a phone number: the `+` of an E.164 number begins no formula. */
export function guardPhone(cell: string): string {
  return isE164(cell) ? cell : guardFormula(cell);
}

/** Whether a guard (`'+1555…`, `'=SUM`, and `''=…` for a text that began with `'=`) precedes the text. */
export function hasGuard(cell: string): boolean {
  return cell.charCodeAt(0) === APOSTROPHE && /^''?[=+\-@\t]/.test(cell);
}

export function withoutGuard(cell: string): string {
  return hasGuard(cell) ? cell.slice(1) : cell;
}
