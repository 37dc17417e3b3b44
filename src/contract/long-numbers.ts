import type { JsonObject } from "./json.ts";
import type { RowPage } from "./row-page.ts";

/** A Unicode noncharacter, which doesn't occur in text. */
const MARK = "\ufdd0";
const MANY_DIGITS = 16;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/**
 * A regular expression over the whole text took 7% of an export, so this checks only every 16th position: a run of 16
 * digits covers one of them.
 */
function mayHoldLongNumbers(text: string): boolean {
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
 * Replaces each number that a double can't hold with a marked string, which keeps its digits through parsing.
 * `unmarkLongNumbers` removes the marks from the output.
 */
export function markLongNumbers(text: string): string {
  return text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || token.length < MANY_DIGITS || String(Number(token)) === token
      ? token
      : `"${MARK}${token}${MARK}"`,
  );
}

export function rowsWithMarks(page: RowPage): JsonObject[] | null {
  return reparse(page, markLongNumbers);
}

/** Turns ids that a double can't hold into strings for display, so that they aren't rounded to other ids. */
export function withAllDigits(page: RowPage): readonly JsonObject[] {
  return reparse(page, quoteLongNumbers) ?? page.rows;
}

function reparse(page: RowPage, rewrite: (text: string) => string): JsonObject[] | null {
  // Building the text of a filtered page takes a twelfth of an export's time, so its source is checked first.
  if (!mayHoldLongNumbers(page.source ?? page.text)) return null;
  const { text } = page;
  const rewritten = rewrite(text);
  return rewritten === text ? null : (JSON.parse(rewritten) as JsonObject[]);
}

/** Like `JSON.parse`, but integers that would lose digits become strings. */
export function parseWithAllDigits(text: string): unknown {
  return JSON.parse(mayHoldLongNumbers(text) ? quoteLongNumbers(text) : text);
}

function quoteLongNumbers(text: string): string {
  return text.replace(STRING_OR_NUMBER, (token) =>
    /^-?\d{16,}$/.test(token) && String(Number(token)) !== token ? `"${token}"` : token,
  );
}

export function unmarkLongNumbers(text: string): string {
  return text.replace(/"{0,2}\ufdd0([^\ufdd0]*)\ufdd0"{0,2}/g, "$1");
}
