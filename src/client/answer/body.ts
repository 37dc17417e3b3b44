import type { HttpResponse } from "../../contract/http.ts";
import { isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { oneLine } from "./words.ts";

export const BODY_LIMIT = 64 * 1024 * 1024;
export const ERROR_BODY_LIMIT = 1024 * 1024;

export interface Body {
  readonly bytes: Uint8Array;
  /** If true, `bytes` is only the beginning of the body. */
  readonly tooLarge: boolean;
  /** The error that interrupted the body; `bytes` is what arrived before it. */
  readonly brokenBy: Error | null;
}

/** Stops reading if the body is larger than `limitBytes`. Throws only if aborted. */
export async function readBody(response: HttpResponse, limitBytes: number, signal?: AbortSignal): Promise<Body> {
  if (typeof response.body === "string") return { bytes: Buffer.from(response.body), tooLarge: false, brokenBy: null };
  const chunks: Uint8Array[] = [];
  const announced = Number(response.headers["content-length"] ?? 0);
  let size = 0;
  const whole = (): Uint8Array => (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
  try {
    for await (const chunk of response.body) {
      size += chunk.byteLength;
      if (Math.max(size, announced) > limitBytes) return { bytes: chunks[0] ?? chunk, tooLarge: true, brokenBy: null };
      chunks.push(chunk);
    }
  } catch (error) {
    signal?.throwIfAborted();
    return { bytes: whole(), tooLarge: false, brokenBy: error as Error };
  }
  return { bytes: whole(), tooLarge: false, brokenBy: null };
}

/** The message completes "the answer …". */
export class DecodeProblem extends Error {
  override readonly name = "DecodeProblem";
}

/**
 * Unpacks gzip, deflate and br up to `limitBytes`, because some servers compress without being asked. Drops a byte
 * order mark.
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

async function unpack(bytes: Uint8Array, contentEncoding: string, maxOutputLength: number): Promise<Uint8Array> {
  const names = contentEncoding.split(",").map((name) => name.trim());
  const encodings = names.filter((name) => name !== "" && name !== "identity");
  // A response to HEAD has no body.
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

/** `deflate` means the zlib format of RFC 1950; some servers send raw deflate. */
function hasZlibFrame([method = 0, flags = 0]: Uint8Array): boolean {
  return (method & 0x0f) === 8 && ((method << 8) | flags) % 31 === 0;
}
