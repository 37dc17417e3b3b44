/** Encodings by their names, of a library that is loaded when one is asked for. */

export interface DecodedChunk {
  readonly text: string;
  /** The number of bytes that it was. */
  readonly bytes: number;
  /** The bytes in front of one that the encoding does not have; null where it has them all. */
  readonly validBytes: number | null;
}

export async function isEncoding(name: string): Promise<boolean> {
  if (/^utf-?(?:8|16(?:-?(?:le|be))?)$/i.test(name)) return true;
  return (await import("iconv-lite")).default.encodingExists(name);
}

/** Stands for bytes that are no character. */
const UNKNOWN = "\ufffd";

export async function* decodeNamed(chunks: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<DecodedChunk> {
  const { default: iconv } = await import("iconv-lite");
  const decoder = iconv.getDecoder(encoding);
  const toChunk = (text: string, bytes: number): DecodedChunk => {
    const at = text.indexOf(UNKNOWN);
    return { text, bytes, validBytes: at === -1 ? null : iconv.encode(text.slice(0, at), encoding).length };
  };
  for await (const chunk of chunks)
    yield toChunk(decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)), chunk.byteLength);
  yield toChunk(decoder.end() ?? "", 0);
}
