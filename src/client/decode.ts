import { isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { oneLine } from "./words.ts";

/** Thrown by `decodeBody`: one clause that completes "the answer …". */
export class DecodeProblem extends Error {
  override readonly name = "DecodeProblem";
}

/**
 * A body's text. None of this is asked for, but services answer compressed all the same: gzip, deflate and br are
 * unpacked, up to `limitBytes`. The text must be UTF-8; a byte order mark is dropped.
 */
export async function decodeBody(bytes: Uint8Array, contentEncoding: string | undefined, limitBytes: number): Promise<string> {
  const plain = await unpack(bytes, (contentEncoding ?? "").trim().toLowerCase(), limitBytes);
  if (!isUtf8(plain)) throw new DecodeProblem("is not UTF-8 text");
  const text = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength).toString("utf8");
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

async function unpack(bytes: Uint8Array, encoding: string, maxOutputLength: number): Promise<Uint8Array> {
  if (encoding === "" || encoding === "identity") return bytes;
  const zlib = await import("node:zlib");
  const unpackers: Readonly<Record<string, (input: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
    gzip: promisify(zlib.gunzip),
    "x-gzip": promisify(zlib.gunzip),
    deflate: promisify(zlib.inflate),
    br: promisify(zlib.brotliDecompress),
  };
  const unpacker = Object.hasOwn(unpackers, encoding) ? unpackers[encoding] : undefined;
  if (unpacker === undefined) throw new DecodeProblem(`has an encoding that was not asked for, "${oneLine(encoding, 40) ?? ""}"`);
  try {
    return await unpacker(bytes, { maxOutputLength });
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw new DecodeProblem(tooLarge ? "is too large once unpacked" : `cannot be unpacked as ${encoding}`, { cause: error });
  }
}
