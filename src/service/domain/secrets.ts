import { createHash, timingSafeEqual } from "node:crypto";

/** Compares strings of any length in constant time. */
export function isSameText(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
