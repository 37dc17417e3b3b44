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
export async function decodeBody(
  bytes: Uint8Array,
  contentEncoding: string | undefined,
  limitBytes: number,
): Promise<string> {
  const plain = await unpack(bytes, (contentEncoding ?? "").trim().toLowerCase(), limitBytes);
  if (!isUtf8(plain)) throw new DecodeProblem("is not UTF-8 text");
  const text = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength).toString("utf8");
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/** Takes off each encoding that was put on, the last one first. */
async function unpack(bytes: Uint8Array, contentEncoding: string, maxOutputLength: number): Promise<Uint8Array> {
  const names = contentEncoding.split(",").map((name) => name.trim());
  const encodings = names.filter((name) => name !== "" && name !== "identity");
  // HEAD is answered with the headers alone.
  if (bytes.byteLength === 0) return bytes;
  let plain = bytes;
  for (const encoding of encodings.toReversed()) plain = await unpackOnce(plain, encoding, maxOutputLength);
  return plain;
}

async function unpackOnce(bytes: Uint8Array, encoding: string, maxOutputLength: number): Promise<Uint8Array> {
  const unpacker = unpackerFor(encoding, bytes, await import("node:zlib"));
  if (unpacker === null)
    throw new DecodeProblem(`has an encoding that was not asked for, "${oneLine(encoding, 40) ?? ""}"`);
  try {
    return await unpacker(bytes, { maxOutputLength });
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw new DecodeProblem(tooLarge ? "is too large once unpacked" : `cannot be unpacked as ${encoding}`, {
      cause: error,
    });
  }
}

type Unpacker = (input: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

function unpackerFor(encoding: string, bytes: Uint8Array, zlib: typeof import("node:zlib")): Unpacker | null {
  if (encoding === "gzip" || encoding === "x-gzip") return promisify(zlib.gunzip);
  if (encoding === "deflate") return promisify(hasZlibFrame(bytes) ? zlib.inflate : zlib.inflateRaw);
  return encoding === "br" ? promisify(zlib.brotliDecompress) : null;
}

/** RFC 1950 frames what `deflate` means; some services leave the frame out. */
function hasZlibFrame([method = 0, flags = 0]: Uint8Array): boolean {
  return (method & 0x0f) === 8 && ((method << 8) | flags) % 31 === 0;
}
