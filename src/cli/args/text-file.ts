/** Files of text that a command line names. */
import { readFile } from "node:fs/promises";
import { readAll } from "../../runtime/pipe-reader.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { Input } from "../streams/streams.ts";

/** As `decodeText`; rejects with the system's error for a file that cannot be read. */
export async function readTextFile(file: string): Promise<string> {
  return decodeText(await readFile(file), file);
}

/** As `readTextFile`; `-` is standard input. Throws UsageError for `-` on a terminal. */
export async function readTextInput(input: Pick<Input, "isTTY" | "bytes">, file: string): Promise<string> {
  if (file !== "-") return readTextFile(file);
  if (input.isTTY) throw new UsageError("standard input is a terminal; name a file, or pipe one in");
  return decodeText(await readAll(input.bytes()), nameOfInput(file));
}

export function nameOfInput(file: string): string {
  return file === "-" ? "standard input" : file;
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
