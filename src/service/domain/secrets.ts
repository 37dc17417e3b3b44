import { createHash, timingSafeEqual } from "node:crypto";

/** Compares secrets, whatever their lengths, in constant time. */
export function isSameText(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
