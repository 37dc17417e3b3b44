import { GIVEN_FILE_MAX, readAtMost, readGivenFile, tooLarge } from "../../runtime/pipe-reader.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { Input } from "../streams/streams.ts";

export async function readTextFile(file: string, maxBytes = GIVEN_FILE_MAX): Promise<string> {
  return decodeText(await readGivenFile(file, maxBytes), file);
}

export async function readTextInput(
  input: Pick<Input, "isTTY" | "bytes">,
  file: string,
  maxBytes = GIVEN_FILE_MAX,
): Promise<string> {
  if (file !== "-") return readTextFile(file, maxBytes);
  if (input.isTTY) throw new UsageError("standard input is a terminal; name a file, or pipe one in");
  const bytes = await readAtMost(input.bytes(), maxBytes);
  if (bytes === null) throw new UsageError(`${nameOfInput(file)}: ${tooLarge(maxBytes)}`);
  return decodeText(bytes, nameOfInput(file));
}

export function nameOfInput(file: string): string {
  return file === "-" ? "standard input" : file;
}

export async function readFlagFile(flag: string, file: string): Promise<string> {
  const bytes = await readGivenFile(file).catch(async (error: unknown) => {
    const { systemErrorText } = await import("../../runtime/files/system-words.ts");
    throw new UsageError(`${flag}: cannot read ${file}: ${systemErrorText(error)}`, { cause: error });
  });
  return decodeText(bytes, `${flag}: ${file}`);
}

/** Drops a byte order mark. Throws UsageError unless the text is UTF-8, because invalid bytes would be replaced. */
function decodeText(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new UsageError(`${name} is not UTF-8 text`, { cause: error });
  }
}
