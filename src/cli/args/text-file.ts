/** Files of text that a command line names. */
import { readFile } from "node:fs/promises";
import { UsageError } from "../errors/usage-error.ts";

/** As `decodeText`; rejects with the system's error for a file that cannot be read. */
export async function readTextFile(file: string): Promise<string> {
  return decodeText(await readFile(file), file);
}

/** As `decodeText`, of a file that a flag names; throws UsageError for one that cannot be read. */
export async function readFlagFile(flag: string, file: string): Promise<string> {
  const bytes = await readFile(file).catch(async (error: unknown) => {
    const { wordsOfRefusal } = await import("../../runtime/files/system-words.ts");
    throw new UsageError(`${flag}: cannot read ${file}: ${wordsOfRefusal(error)}`, { cause: error });
  });
  return decodeText(bytes, `${flag}: ${file}`);
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
