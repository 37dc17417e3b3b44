import type { Output } from "../streams/streams.ts";

/**
 * Characters that steer a terminal or reorder its text: C0, DEL and C1 controls, line and paragraph separators,
 * and the bidirectional overrides and isolates that can make one name look like another.
 */
const STEERING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

const NAMED = new Map([
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\r", "\\r"],
]);

/** Safe on one line of a terminal: each steering character becomes a visible escape. */
export function toSafeText(text: string): string {
  return text.replace(STEERING, (char) => NAMED.get(char) ?? `\\u${hex(char)}`);
}

/** Keeps tabs and line ends; a CR alone would write over its line. JSON stays the same value. */
export function toSafeLines(text: string): string {
  const lines = text.replaceAll(/\r(?!\n)/g, "\\r");
  return lines.replace(STEERING, (char) => (NAMED.has(char) ? char : `\\u${hex(char)}`));
}

/** For a table cell: white space, line ends included, becomes one space. */
export function toSafeCell(text: string): string {
  return toSafeText(text.replace(/\s+/g, " ").trim());
}

/** Steering characters are visible on a terminal; a pipe gets every byte. */
export async function writeText(out: Output, text: string): Promise<void> {
  await out.write(out.isTTY ? toSafeLines(text) : text);
}

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, "0");
}

export function toShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
