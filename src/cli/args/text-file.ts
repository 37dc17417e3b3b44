/** Files of text that a command line names. */
import { readFile } from "node:fs/promises";
import { UsageError } from "../errors/usage-error.ts";

/** As `decodeText`; rejects with the system's error for a file that cannot be read. */
export async function readTextFile(file: string): Promise<string> {
  return decodeText(await readFile(file), file);
}

/**
 * UTF-8 text without a byte order mark. Throws UsageError for other bytes: they would be replaced, and so stored.
 */
export function decodeText(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new UsageError(`${name} is not UTF-8 text`, { cause: error });
  }
}
