/** `read-only` allows GET and HEAD; `admin` also allows the project's operations. */
const KEY_ACCESSES = ["full", "read-only", "admin"] as const;
export type KeyAccess = (typeof KEY_ACCESSES)[number];

/** Not in the specification: the key's access, sent with each successful response. */
export const KEY_ACCESS_HEADER = "x-key-access";

/** Read-only keys begin with this, so that a client can refuse a write without asking the server. */
export const READ_ONLY_PREFIX = "read-only-";

export const READ_ONLY_REFUSAL = "this key only reads";

export function isKeyAccess(text: unknown): text is KeyAccess {
  return KEY_ACCESSES.some((access) => access === text);
}

export function isReadOnlyKey(key: string): boolean {
  return key.startsWith(READ_ONLY_PREFIX);
}

export function isReading(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/** `GET` lists the operations that an admin key allows; `POST` to `/v1/operations/{name}` calls one. */
export const OPERATIONS_PATH = "/v1/operations";

/** The project that an admin key manages, percent-encoded. */
export const KEY_PROJECT_HEADER = "x-key-project";

/** Sent with a page of a list: the value of `after` for the next page. */
export const NEXT_PAGE_HEADER = "x-next-page";

export const NEEDS_ADMIN = "this needs an admin key";
