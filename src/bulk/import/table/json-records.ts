/** JSON and NDJSON as objects with the line on which each begins, in batches; nothing is held longer than its batch. */
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { InputError, type InputFile } from "./input-file.ts";
import { notText } from "./records.ts";
import { EncodingError, toUtf8 } from "./utf8-bytes.ts";

export interface JsonRecord {
  readonly line: number;
  /** Bytes of its text. */
  readonly size: number;
  readonly value: JsonObject;
}

/** An object longer than that is rather one that holds all rows. */
const RECORD_MAX = 4 * 1024 * 1024;

const [NEWLINE, SPACE, QUOTE, COMMA, BACKSLASH] = [10, 32, 34, 44, 92];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/** Whether text begins as JSON does and no table. */
export function looksLikeJson(head: Uint8Array): boolean {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 1024)).toString("utf8");
  return /^\ufeff?\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[{\]["\d]|$))/.test(text);
}

/**
 * The objects of an array, or one after the other as in NDJSON. Throws InputError, with the line, for anything else and
 * for a file that is cut off.
 */
export async function* readJsonRecords(input: InputFile): AsyncGenerator<JsonRecord[]> {
  const scanner = new ObjectScanner(input.name);
  try {
    for await (const bytes of toUtf8(input.bytes())) yield scanner.feed(bytes);
  } catch (error) {
    throw error instanceof EncodingError ? await notText(input, error) : error;
  }
  scanner.finish();
}

/** Finds where objects begin and end, and leaves their content to `JSON.parse`. */
class ObjectScanner {
  private carried: Buffer = Buffer.alloc(0);
  private line = 1;
  private state: "start" | "array" | "objects" | "end" = "start";

  private readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  feed(bytes: Buffer): JsonRecord[] {
    const text = this.carried.length === 0 ? bytes : Buffer.concat([this.carried, bytes]);
    const records: JsonRecord[] = [];
    let at = 0;
    for (; at < text.length; at += 1) {
      const byte = text[at] ?? 0;
      if (byte === NEWLINE) this.line += 1;
      if (byte !== OPEN_OBJECT) this.between(byte);
      else {
        const line = this.parseLine(text, at);
        const end = line?.end ?? endOfObject(text, at);
        if (end === -1) break;
        records.push(line?.record ?? this.parse(text, at, end));
        at = end - 1;
      }
    }
    if (text.length - at > RECORD_MAX)
      throw new InputError(`${this.name}:${this.line}: an object that begins here is longer than 4 MiB`, {
        hint: "one object a row is required, one after the other or in an array",
      });
    // A copy: the reader may use its buffer again.
    this.carried = Buffer.from(text.subarray(at));
    return records;
  }

  /** Throws InputError where the file is cut off. */
  finish(): void {
    if (this.carried.length === 0 && this.state !== "array") return;
    const what = this.carried.length === 0 ? "the array has no end" : "an object that begins here has no end";
    throw new InputError(`${this.name}:${this.line}: ${what}; the file is cut off`, {
      hint: "save or download it again",
    });
  }

  /** What is between objects. */
  private between(byte: number): void {
    if (byte <= SPACE) return;
    if (byte === OPEN_ARRAY && this.state === "start") this.state = "array";
    else if (byte === CLOSE_ARRAY && this.state === "array") this.state = "end";
    else if (byte !== COMMA || this.state !== "array")
      throw new InputError(`${this.name}:${this.line}: expected an object, found ${String.fromCharCode(byte)}`, {
        hint: "one object a row is required, one after the other or in an array",
      });
  }

  /** An object that is the rest of its line, as in NDJSON, without looking at each byte; null for any other. */
  private parseLine(text: Buffer, start: number): { readonly record: JsonRecord; readonly end: number } | null {
    const end = text.indexOf(NEWLINE, start);
    if (end === -1 || text[end - 1] !== CLOSE_OBJECT || this.state === "end") return null;
    const value = parseOr(text.toString("utf8", start, end));
    if (!isJsonObject(value)) return null;
    if (this.state === "start") this.state = "objects";
    return { record: { line: this.line, size: end - start, value }, end };
  }

  private parse(text: Buffer, start: number, end: number): JsonRecord {
    if (this.state === "end") throw new InputError(`${this.name}:${this.line}: more text follows the end of the array`);
    if (this.state === "start") this.state = "objects";
    const [line, json] = [this.line, text.toString("utf8", start, end)];
    for (let at = text.indexOf(NEWLINE, start); at !== -1 && at < end; at = text.indexOf(NEWLINE, at + 1))
      this.line += 1;
    try {
      const value: unknown = JSON.parse(json);
      if (isJsonObject(value)) return { line, size: end - start, value };
    } catch (error) {
      throw new InputError(`${this.name}:${line}: not valid JSON`, { cause: error });
    }
    throw new InputError(`${this.name}:${line}: expected an object`);
  }
}

function parseOr(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

/** Behind the brace that closes the one at `start`; -1 when it is still to come. */
function endOfObject(text: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) {
      at = endOfString(text, at);
      if (at === -1) return -1;
    } else if (byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_OBJECT) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** The closing quote of a string; -1 when it is still to come. */
function endOfString(text: Buffer, start: number): number {
  for (let at = text.indexOf(QUOTE, start + 1); at !== -1; at = text.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}
