/** Text that people wrote, made harmless for where it is shown. */

/** They turn the direction of all text that follows, and so can make an address read as another one. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const LINE_BREAK = /\r\n|[\r\n\v\f\u0085\u2028\u2029]/g;

/** On one line, without control characters and without what turns the direction of text. */
export function singleLine(text: string): string {
  return text
    .replace(BIDI_CONTROLS, "")
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
}

/** The same, but with its lines; each ends with one LF. */
export function multiLine(text: string): string {
  return text
    .replace(BIDI_CONTROLS, "")
    .replace(LINE_BREAK, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, " ")
    .trim();
}
