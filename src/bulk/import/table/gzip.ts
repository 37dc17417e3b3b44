import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { InputError, type InputFile } from "./input-file.ts";

/** Line numbers refer to the content, the hash to the compressed file. */
export async function unzipped(input: InputFile): Promise<InputFile> {
  for await (const [first, second] of input.bytes()) {
    if (first !== 0x1f || second !== 0x8b) return input;
    return {
      ...input,
      get sha256() {
        return input.sha256;
      },
      bytes: () => unpack(input),
    };
  }
  return input;
}

async function* unpack(input: InputFile): AsyncGenerator<Uint8Array> {
  const unpacked = pipeline(Readable.from(input.bytes()), createGunzip(), () => undefined);
  try {
    yield* unpacked as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (!String((error as NodeJS.ErrnoException).code).startsWith("Z_")) throw error;
    throw new InputError(`${input.name}: not a complete gzip file (${(error as Error).message})`, {
      hint: "save or download it again",
      cause: error,
    });
  }
}
