/** Keeps numbers with more digits than a double holds. */
import type { JsonObject } from "./json.ts";
import type { RowPage } from "./row-page.ts";

/** A Unicode noncharacter, so no text contains it. */
const MARK = "\ufdd0";
/** Fewer digits always fit. */
const MANY_DIGITS = 16;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** A quick check. */
export function mayHoldLongNumbers(text: string): boolean {
  // So many digits in a row always cover a multiple of their count. Matching /\d{16}/ was 7 % of an export.
  for (let place = 0; place < text.length; place += MANY_DIGITS)
    if (countDigits(text, place) >= MANY_DIGITS) return true;
  return false;
}

/** Digits in a row around an index. */
function countDigits(text: string, place: number): number {
  let end = place;
  while (isDigit(text.charCodeAt(end))) end += 1;
  if (end === place) return 0;
  let start = place;
  while (isDigit(text.charCodeAt(start - 1))) start -= 1;
  return end - start;
}

/** False for NaN, the code outside a text. */
function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/**
 * Turns each number that a double can't hold into a marked string, so that its digits survive parsing; null if there is
 * none. `unmarkLongNumbers` removes the marks from any output made of it.
 */
export function markLongNumbers(text: string): string | null {
  let isMarked = false;
  const marked = text.replace(STRING_OR_NUMBER, (token) => {
    if (token.startsWith('"') || token.length < 16 || String(Number(token)) === token) return token;
    isMarked = true;
    return `"${MARK}${token}${MARK}"`;
  });
  return isMarked ? marked : null;
}

/** For display: such ids become texts, so that they don't turn into other ids. */
export function withAllDigits(page: RowPage): readonly JsonObject[] {
  const quoted = mayHoldLongNumbers(page.source ?? page.text) ? quoteLongNumbers(page.text) : null;
  return quoted === null ? page.rows : (JSON.parse(quoted) as JsonObject[]);
}

/** Like `JSON.parse`, but integers that would lose digits become strings. */
export function parseWithAllDigits(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const quoted = mayHoldLongNumbers(text) ? quoteLongNumbers(text) : null;
  return quoted === null ? value : JSON.parse(quoted);
}

/** Null if no integer would lose digits. */
function quoteLongNumbers(text: string): string | null {
  let isQuoted = false;
  const quoted = text.replace(STRING_OR_NUMBER, (token) => {
    if (!/^-?\d{16,}$/.test(token) || String(Number(token)) === token) return token;
    isQuoted = true;
    return `"${token}"`;
  });
  return isQuoted ? quoted : null;
}

/** Works in plain text, JSON and JSON in quoted CSV cells. */
export function unmarkLongNumbers(text: string): string {
  return text.replace(/"{0,2}\ufdd0([^\ufdd0]*)\ufdd0"{0,2}/g, "$1");
}
