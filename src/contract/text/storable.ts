/** Values that SQLite and PostgreSQL both store unchanged. */
import type { Json } from "../json.ts";
import { characterCount } from "../limits.ts";

const DEPTH_MAX = 32;

/** False for NUL and unpaired surrogates. */
export function isStorableText(text: string): boolean {
  return !text.includes("\0") && !/\p{Surrogate}/u.test(text);
}

export function isStorableJson(value: Json, depth = DEPTH_MAX): boolean {
  if (typeof value === "string") return isStorableText(value);
  // Numbers in JSON, such as 1e999, can be too large for a double.
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  return Object.entries(value).every(([key, inner]) => isStorableText(key) && isStorableJson(inner, depth - 1));
}

export interface TextForm {
  readonly max?: number;
  readonly hasLines?: boolean;
  readonly mayBeBlank?: boolean;
}

/** What is wrong with a text, phrased as the end of a sentence; null if it is fine. */
export function textFault(text: string, { max = Infinity, hasLines = false, mayBeBlank = false }: TextForm = {}) {
  if (!mayBeBlank && text.trim() === "") return "can't be blank";
  if (characterCount(text.trim()) > max) return `is too long (maximum is ${max} characters)`;
  if (!isStorableText(text)) return "must not have null characters or halves of surrogate pairs";
  if (hasLines) return /[^\P{Cc}\n\r\t]/u.test(text) ? "must not have control characters" : null;
  return /\p{Cc}/u.test(text) ? "must be one line without control characters" : null;
}
