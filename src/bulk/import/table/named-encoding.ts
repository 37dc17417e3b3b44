/**
 * Encodings by the names that the WHATWG's standard has for them. Node decodes them all; its version 20 reads
 * windows-1252 as latin1, so a library decodes that one.
 */

export interface DecodedChunk {
  readonly text: string;
  /** The number of bytes that it was. */
  readonly bytes: number;
  /** The bytes in front of one that the encoding does not have; null where it has them all. */
  readonly validBytes: number | null;
}

/** True for a name that `decodeNamed` takes. */
export function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== "";
  } catch {
    return false;
  }
}

export function decodeNamed(chunks: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<DecodedChunk> {
  const isWindows = new TextDecoder(encoding).encoding === "windows-1252";
  return isWindows ? decodeWindows(chunks) : decodeByNode(chunks, encoding);
}

/**
 * Five bytes have no character in windows-1252; the standard makes control characters of them, which are in no text.
 */
const WITHOUT_CHARACTER = /[\u0080-\u009f]/;

async function* decodeWindows(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<DecodedChunk> {
  const { decode } = await import("windows-1252");
  for await (const chunk of chunks) {
    const text = decode(chunk);
    const at = text.search(WITHOUT_CHARACTER);
    yield { text, bytes: chunk.byteLength, validBytes: at === -1 ? null : at };
  }
}

async function* decodeByNode(chunks: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<DecodedChunk> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  for await (const chunk of chunks) yield decodeOr(chunk, () => decoder.decode(chunk, { stream: true }), encoding);
  yield decodeOr(new Uint8Array(), () => decoder.decode(), encoding);
}

function decodeOr(chunk: Uint8Array, decode: () => string, encoding: string): DecodedChunk {
  try {
    return { text: decode(), bytes: chunk.byteLength, validBytes: null };
  } catch {
    return { text: "", bytes: chunk.byteLength, validBytes: validLength(chunk, encoding) };
  }
}

/** Found by halving. */
function validLength(chunk: Uint8Array, encoding: string): number {
  let [good, bad] = [0, chunk.byteLength];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isValid(chunk.subarray(0, middle), encoding)) good = middle;
    else bad = middle;
  }
  return good;
}

function isValid(bytes: Uint8Array, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
