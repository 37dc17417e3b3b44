/** Values that every store keeps, and gives back as they were. */
import type { Json } from "../json.ts";
import { characterCount } from "../limits.ts";

/** No real properties are nested deeper; the store's JSON has a limit too. */
const DEPTH_MAX = 32;

/** Databases take no NUL. Half a surrogate pair is not a character, and engines store it in different ways. */
export function isStorableText(text: string): boolean {
  return !text.includes("\0") && !/\p{Surrogate}/u.test(text);
}

export function isStorableJson(value: Json, depth = DEPTH_MAX): boolean {
  if (typeof value === "string") return isStorableText(value);
  // JSON may have a number that is too large to be one here.
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  return Object.entries(value).every(([key, inner]) => isStorableText(key) && isStorableJson(inner, depth - 1));
}

export interface TextForm {
  /** Characters at most; no limit by default. */
  readonly max?: number;
  readonly hasLines?: boolean;
  readonly mayBeBlank?: boolean;
}

/** What is wrong with a text that is stored and shown, as the end of a sentence about it; null for a good one. */
export function textFault(text: string, { max = Infinity, hasLines = false, mayBeBlank = false }: TextForm = {}) {
  if (!mayBeBlank && text.trim() === "") return "can't be blank";
  if (characterCount(text.trim()) > max) return `is too long (maximum is ${max} characters)`;
  if (!isStorableText(text)) return "must not have null characters or halves of surrogate pairs";
  if (hasLines) return /[^\P{Cc}\n\r\t]/u.test(text) ? "must not have control characters" : null;
  return /\p{Cc}/u.test(text) ? "must be one line without control characters" : null;
}
