import type { JsonObject } from "./json.ts";

/**
 * The rows of a JSON array as the texts they came as, so that numbers, field order and repeated keys survive.
 * `text` is a valid JSON array (it was parsed before); anything else gives nonsense, never an endless loop.
 */
export function splitRowTexts(text: string): string[] {
  const rows: string[] = [];
  let depth = 0;
  let start = 0;
  const take = (end: number): void => {
    const row = text.slice(start, end).trim();
    if (row !== "") rows.push(row);
    start = end + 1;
  };
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char === QUOTE) index = endOfString(text, index);
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      depth += 1;
      if (depth === 1) start = index + 1;
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      if (depth === 1) take(index);
      depth -= 1;
    } else if (char === COMMA && depth === 1) take(index);
  }
  return rows;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The place of the quote that closes the string opened at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** A character that no text holds: Unicode reserves it for uses such as this. */
const MARK = "\ufdd0";
/** Fewer digits in a row are always held. */
const MANY_DIGITS = 16;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** Whether JSON may hold a number that a JavaScript number cannot hold: a quick look. */
export function mayHoldLongNumbers(text: string): boolean {
  // One of so many digits stands at a multiple of their count. To match /\d{16}/ was 7 % of an export.
  for (let place = 0; place < text.length; place += MANY_DIGITS)
    if (countDigits(text, place) >= MANY_DIGITS) return true;
  return false;
}

/** How many digits are in a row around a place; 0 where there is none. */
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
export function withAllDigits({
  rows,
  text,
  source,
}: {
  readonly rows: readonly JsonObject[];
  /** The JSON array that they came in. */
  readonly text: string;
  /** The text that they are some of, where that is at hand and `text` has to be made. */
  readonly source?: string;
}): readonly JsonObject[] {
  const quoted = mayHoldLongNumbers(source ?? text) ? quoteLongNumbers(text) : null;
  return quoted === null ? rows : (JSON.parse(quoted) as JsonObject[]);
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
