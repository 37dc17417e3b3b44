/** Undoes spellings that hide an address or number from patterns but not from readers. */
import { INVISIBLE } from "../contract/text/invisible.ts";
import { foldAccents, foldEach, type FoldedText, foldWithPlaces } from "./search.ts";

const AT = String.raw`\s?[[({<]\s?at\s?[\])}>]\s?|%40`;
const DOT = String.raw`\s?[[({<]\s?dot\s?[\])}>]\s?|%2e`;
/** Digits of other scripts, and full-width, small and mathematical forms of ASCII. */
const OTHER_FORM = String.raw`(?![0-9])[\p{Nd}\p{No}\uff01-\uff5e\ufe50-\ufe6b\u{1d400}-\u{1d7ff}]`;
const DISGUISE = new RegExp([AT, DOT, OTHER_FORM, INVISIBLE.source].join("|"), "iu");
const PIECES = new RegExp(String.raw`${AT}|${DOT}|\P{M}\p{M}*|\p{M}+`, "gisu");

export function withoutDisguise(text: string): FoldedText | null {
  return DISGUISE.test(text) ? foldEach(text, PIECES, fold) : null;
}

export function foldName(text: string): FoldedText {
  if (!DISGUISE.test(text)) return foldWithPlaces(text);
  return foldEach(text, PIECES, (piece) => foldAccents(fold(piece)));
}

function fold(piece: string): string {
  if (!DISGUISE.test(piece)) return piece;
  if (/^%40|at/i.test(piece)) return "@";
  if (/^%2e|dot/i.test(piece)) return ".";
  const form = piece.replace(INVISIBLE, "").normalize("NFKC");
  return /^\p{Nd}$/u.test(form) ? asciiDigit(form) : form;
}

function asciiDigit(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((code - zero) % 10);
}
