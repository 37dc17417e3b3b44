/** These characters reverse the direction of the following text, so they can disguise an address. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const LINE_BREAK = /\r\n|[\r\n\v\f\u0085\u2028\u2029]/g;

export function singleLine(text: string): string {
  return text
    .replace(BIDI_CONTROLS, "")
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
}

/** Like `singleLine`, but keeps line breaks as LF. */
export function multiLine(text: string): string {
  return text
    .replace(BIDI_CONTROLS, "")
    .replace(LINE_BREAK, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, " ")
    .trim();
}
