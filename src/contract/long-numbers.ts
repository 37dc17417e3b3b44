/** Preserves numbers with more digits than a double can hold. */
import type { JsonObject } from "./json.ts";
import type { RowPage } from "./row-page.ts";

/** A Unicode noncharacter, which doesn't occur in text. */
const MARK = "\ufdd0";
const MANY_DIGITS = 16;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

export function mayHoldLongNumbers(text: string): boolean {
  // A regular expression over the whole text took 7% of an export, so only every 16th position is checked: any run of
  // 16 digits covers one.
  for (let place = 0; place < text.length; place += MANY_DIGITS)
    if (countDigits(text, place) >= MANY_DIGITS) return true;
  return false;
}

function countDigits(text: string, place: number): number {
  let end = place;
  while (isDigit(text.charCodeAt(end))) end += 1;
  if (end === place) return 0;
  let start = place;
  while (isDigit(text.charCodeAt(start - 1))) start -= 1;
  return end - start;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/**
 * Replaces each number that a double can't hold with a marked string, which keeps its digits through parsing; null if
 * there is none. `unmarkLongNumbers` removes the marks from the output.
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

/** Turns ids that a double can't hold into strings for display, so that they aren't rounded to other ids. */
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

function quoteLongNumbers(text: string): string | null {
  let isQuoted = false;
  const quoted = text.replace(STRING_OR_NUMBER, (token) => {
    if (!/^-?\d{16,}$/.test(token) || String(Number(token)) === token) return token;
    isQuoted = true;
    return `"${token}"`;
  });
  return isQuoted ? quoted : null;
}

export function unmarkLongNumbers(text: string): string {
  return text.replace(/"{0,2}\ufdd0([^\ufdd0]*)\ufdd0"{0,2}/g, "$1");
}
