/** Values that every store keeps, and gives back as they were. */
import type { Json } from "../json.ts";

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
