/** Bytes to text: UTF-8 with or without BOM, UTF-16 with BOM; anything else is an error that names the line. */
import { InputError } from "./input-error.ts";

/** `name` stands in the error. */
export async function* decodeText(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  let line = 1;
  let head = new Uint8Array(0);
  const decode = (bytes: Uint8Array | undefined): string => {
    decoder ??= new TextDecoder(encodingOf(head), { fatal: true });
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch (error) {
      throw notText(name, line + linesBeforeError(bytes ?? new Uint8Array(0), decoder.encoding), error);
    }
  };
  for await (const chunk of chunks) {
    // The byte order mark may come in pieces.
    head = decoder === null ? join(head, chunk) : head;
    if (decoder === null && head.length < 2) continue;
    const text = decode(decoder === null ? head : chunk);
    line += countLines(text);
    if (text !== "") yield text;
  }
  const rest = decoder === null && head.length > 0 ? decode(head) + decode(undefined) : decode(undefined);
  if (rest !== "") yield rest;
}

function encodingOf(head: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  return head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : "utf-8";
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

function notText(name: string, line: number, cause: unknown): InputError {
  return new InputError(`${name}:${line}: the text is neither UTF-8 nor UTF-16 with a byte order mark`, {
    hint: `save the file as "CSV UTF-8", or convert it: iconv -f WINDOWS-1252 -t UTF-8 ${name} > fixed.csv`,
    cause,
  });
}

/** Line ends in front of the first byte that is no UTF-8, found by halving. */
function linesBeforeError(bytes: Uint8Array, encoding: string): number {
  const isText = (length: number): boolean => {
    try {
      new TextDecoder(encoding, { fatal: true }).decode(bytes.subarray(0, length), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  let [good, bad] = [0, bytes.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isText(middle)) good = middle;
    else bad = middle;
  }
  return countLines(new TextDecoder(encoding).decode(bytes.subarray(0, good), { stream: true }));
}

/** Line ends in a text, `\r\n` counted once. */
export function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
