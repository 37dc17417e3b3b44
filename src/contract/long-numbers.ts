/** Numbers of more digits than a JavaScript number holds, kept whole on their way through it. */
import type { JsonObject } from "./json.ts";
import type { RowPage } from "./row-page.ts";

/** A character that no text holds: Unicode reserves it for uses such as this. */
const MARK = "\ufdd0";
/** Fewer digits in a row are always held. */
const MANY_DIGITS = 16;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** True when JSON may hold a number that a JavaScript number cannot hold: a quick look. */
export function mayHoldLongNumbers(text: string): boolean {
  // One of so many digits stands at a multiple of their count. To match /\d{16}/ was 7 % of an export.
  for (let place = 0; place < text.length; place += MANY_DIGITS)
    if (countDigits(text, place) >= MANY_DIGITS) return true;
  return false;
}

/** The number of digits in a row around a place; 0 where there is none. */
function countDigits(text: string, place: number): number {
  let end = place;
  while (isDigit(text.charCodeAt(end))) end += 1;
  if (end === place) return 0;
  let start = place;
  while (isDigit(text.charCodeAt(start - 1))) start -= 1;
  return end - start;
}

/** Of a character code; NaN, outside a text, is none. */
function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/**
 * JSON in which each number that a JavaScript number cannot hold stands as a marked string, so that its digits survive
 * parsing; null when there is none. `unmarkLongNumbers` takes the marks away again from what was made of it.
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

/** Rows to be read by people: an id of more digits than a number holds is a text, so that it is not another id. */
export function withAllDigits(page: RowPage): readonly JsonObject[] {
  const quoted = mayHoldLongNumbers(page.source ?? page.text) ? quoteLongNumbers(page.text) : null;
  return quoted === null ? page.rows : (JSON.parse(quoted) as JsonObject[]);
}

/** As `JSON.parse`, but a whole number that would lose digits is a string of them all. */
export function parseWithAllDigits(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const quoted = mayHoldLongNumbers(text) ? quoteLongNumbers(text) : null;
  return quoted === null ? value : JSON.parse(quoted);
}

/** JSON in which each whole number that loses digits is a string of them all; null when there is none. */
function quoteLongNumbers(text: string): string | null {
  let isQuoted = false;
  const quoted = text.replace(STRING_OR_NUMBER, (token) => {
    if (!/^-?\d{16,}$/.test(token) || String(Number(token)) === token) return token;
    isQuoted = true;
    return `"${token}"`;
  });
  return isQuoted ? quoted : null;
}

/** In plain text, in JSON and in JSON inside a quoted CSV cell. */
export function unmarkLongNumbers(text: string): string {
  return text.replace(/"{0,2}\ufdd0([^\ufdd0]*)\ufdd0"{0,2}/g, "$1");
}
