/**
 * Bytes of a file as valid UTF-8: a byte order mark is removed, UTF-16 with one is recoded, and so is any encoding that
 * is named; everything else is refused.
 */
import { isUtf8 } from "node:buffer";
import { decodeNamed } from "./named-encoding.ts";

type WideEncoding = "utf-16le" | "utf-16be";

/** The bytes are not text in a known encoding; `offset` is that of the first wrong one. */
export class EncodingError extends Error {
  override readonly name = "EncodingError";
  readonly offset: number;
  /** Valid UTF-8, and in no text all the same. */
  readonly isZero: boolean;
  /** The encoding that the bytes were read as. */
  readonly encoding: string;

  constructor(offset: number, { isZero = false, encoding = "utf-8" }: { isZero?: boolean; encoding?: string } = {}) {
    super(`byte ${offset} is not ${encoding}`);
    this.offset = offset;
    this.isZero = isZero;
    this.encoding = encoding;
  }
}

const LONGEST_MARK = 3;

/**
 * Throws EncodingError. Characters are never cut in two. `encoding` is a name that `isEncoding` knows; null: UTF-8, or
 * UTF-16 with a byte order mark.
 */
export async function* toUtf8(
  chunks: AsyncIterable<Uint8Array>,
  encoding: string | null = null,
): AsyncGenerator<Buffer> {
  const source = chunks[Symbol.asyncIterator]();
  const head = await readHead(source);
  const rest: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => source };
  const wide =
    encoding === null || /^utf-?8$/i.test(encoding) ? wideEncodingOf(head) : wideEncodingNamed(encoding, head);
  if (wide !== null) yield* recode(head, rest, wide);
  else if (encoding !== null && !/^utf-?8$/i.test(encoding)) yield* recodeNamed(head, rest, encoding);
  else yield* checkUtf8(head, rest, hasMark(head) ? LONGEST_MARK : 0);
}

/** A byte order mark may come in parts. */
async function readHead(source: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < LONGEST_MARK) {
    const next = await source.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

function hasMark(head: Buffer): boolean {
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
}

/** UTF-16 by its name; without a byte order mark the first zero byte tells its order. */
function wideEncodingNamed(name: string, head: Buffer): WideEncoding | null {
  const match = /^utf-?16-?(le|be)?$/i.exec(name);
  if (match === null) return null;
  const order = match[1]?.toLowerCase();
  if (order !== undefined) return order === "le" ? "utf-16le" : "utf-16be";
  return wideEncodingOf(head) ?? (head[0] === 0 ? "utf-16be" : "utf-16le");
}

/** A character that stands for no byte of the encoding shows that the bytes are in another one. */
async function* recodeNamed(head: Buffer, rest: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Buffer> {
  let start = 0;
  for await (const { text, bytes, validBytes } of decodeNamed(prepend(head, rest), encoding)) {
    if (validBytes !== null) throw new EncodingError(start + validBytes, { encoding });
    yield Buffer.from(text);
    start += bytes;
  }
}

function wideEncodingOf(head: Buffer): WideEncoding | null {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  return head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : null;
}

async function* checkUtf8(head: Buffer, rest: AsyncIterable<Uint8Array>, markLength: number): AsyncGenerator<Buffer> {
  let start = markLength;
  let carried = Buffer.alloc(0);
  for await (const chunk of prepend(head.subarray(markLength), rest)) {
    const bytes = carried.length === 0 ? asBuffer(chunk) : Buffer.concat([carried, chunk]);
    const whole = bytes.subarray(0, endOfWholeCharacters(bytes));
    checkText(whole, start);
    if (whole.length > 0) yield whole;
    // A copy: the reader may use its buffer again.
    carried = Buffer.from(bytes.subarray(whole.length));
    start += whole.length;
  }
  if (carried.length > 0) throw new EncodingError(start);
}

/** A zero byte is valid UTF-8 and in no text: it means UTF-16 without a mark, or no text at all. */
function checkText(bytes: Buffer, start: number): void {
  const zero = bytes.indexOf(0);
  if (zero !== -1) throw new EncodingError(start + zero, { isZero: true });
  if (!isUtf8(bytes)) throw new EncodingError(start + validLength(bytes));
}

/** Bytes in front of a character whose last bytes are still to come. */
function endOfWholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(LONGEST_MARK, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return lengthOfCharacter(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function lengthOfCharacter(firstByte: number): number {
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}

/** Found by halving. A character that a prefix cuts in two counts as valid there: the wrong byte may be its first. */
function validLength(bytes: Buffer): number {
  let [good, bad] = [0, bytes.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isUtf8(bytes.subarray(0, endOfWholeCharacters(bytes.subarray(0, middle))))) good = middle;
    else bad = middle;
  }
  return endOfWholeCharacters(bytes.subarray(0, good));
}

async function* recode(head: Buffer, rest: AsyncIterable<Uint8Array>, encoding: WideEncoding): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let offset = 0;
  const decode = (bytes: Uint8Array | null): Buffer => {
    try {
      return Buffer.from(bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true }));
    } catch {
      throw new EncodingError(offset, { encoding });
    }
  };
  for await (const chunk of prepend(head, rest)) {
    yield decode(chunk);
    offset += chunk.length;
  }
  yield decode(null);
}

async function* prepend(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
