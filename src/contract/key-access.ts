/** What a key of this server may do. `read-only` allows GET and HEAD; other servers don't report it. */

export type KeyAccess = "full" | "read-only";

/** Not in the specification: the key's access, with each successful answer. */
export const KEY_ACCESS_HEADER = "x-key-access";

/** Only read-only keys have this prefix, so a client can refuse to write without asking. */
export const READ_ONLY_PREFIX = "read-only-";

export const READ_ONLY_REFUSAL = "this key only reads";

export function isKeyAccess(text: unknown): text is KeyAccess {
  return text === "full" || text === "read-only";
}

export function isReadOnlyKey(key: string): boolean {
  return key.startsWith(READ_ONLY_PREFIX);
}

export function isReading(method: string): boolean {
  return method === "GET" || method === "HEAD";
}
