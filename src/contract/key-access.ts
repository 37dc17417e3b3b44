/** The access that a key of this service gives. Keys of other services say nothing about theirs. */

/** `read-only` allows GET and HEAD. */
export type KeyAccess = "full" | "read-only";

/** Header of each answer in which a call succeeds, not part of the API: the access of its key. */
export const KEY_ACCESS_HEADER = "x-key-access";

/** The beginning of each key that only reads, and of no other: a client need not ask before it refuses to write. */
export const READ_ONLY_PREFIX = "read-only-";

export const READ_ONLY_REFUSAL = "this key only reads";

export function isKeyAccess(text: unknown): text is KeyAccess {
  return text === "full" || text === "read-only";
}

export function isReadOnlyKey(key: string): boolean {
  return key.startsWith(READ_ONLY_PREFIX);
}

/** True for a method that a key that only reads may use. */
export function isReading(method: string): boolean {
  return method === "GET" || method === "HEAD";
}
