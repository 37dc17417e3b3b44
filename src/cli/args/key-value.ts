import { UsageError } from "../errors/usage-error.ts";

/** `key=value`; the value may be empty and hold further `=`. Throws UsageError. */
export function parseKeyValue(text: string, place: string): [string, string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`${place}: ${JSON.stringify(text)} is not key=value`);
}

/** Names with commas between them, or the flag repeated. Throws UsageError when one is empty. */
export function parseNames(texts: readonly string[], place: string): string[] {
  const names = texts.flatMap((text) => text.split(",")).map((name) => name.trim());
  if (names.includes(""))
    throw new UsageError(`${place}: ${JSON.stringify(texts.join(","))} holds an empty name; write name,name`);
  return names;
}
