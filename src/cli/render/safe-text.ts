import type { Output } from "../streams/streams.ts";

/** Control characters, line separators, and bidirectional overrides, which can make one name look like another. */
const STEERING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

const NAMED = new Map([
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\r", "\\r"],
]);

export function toSafeText(text: string): string {
  return text.replace(STEERING, (char) => NAMED.get(char) ?? `\\u${hex(char)}`);
}

/** Keeps tabs and line breaks, but not a lone CR, which would overwrite its line. */
export function toSafeLines(text: string): string {
  const lines = text.replaceAll(/\r(?!\n)/g, "\\r");
  return lines.replace(STEERING, (char) => (NAMED.has(char) ? char : `\\u${hex(char)}`));
}

export function toSafeCell(text: string): string {
  return toSafeText(text.replace(/\s+/g, " ").trim());
}

export async function writeText(out: Output, text: string): Promise<void> {
  await out.write(out.isTTY ? toSafeLines(text) : text);
}

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, "0");
}

export function toShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
