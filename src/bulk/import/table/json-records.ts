import { isJsonObject, type JsonObject, parseJsonObject } from "../../../contract/json.ts";
import { parseWithAllDigits } from "../../../contract/long-numbers.ts";
import { InputError, type InputFile } from "./input-file.ts";
import { BLANK_LINES_MAX, TOO_MANY_BLANK_LINES } from "./record-parser.ts";
import { explainNotText } from "./not-text.ts";
import { EncodingError, toUtf8 } from "./encoding.ts";

export interface JsonRecord {
  readonly line: number;
  readonly lineEnds: number;
  readonly size: number;
  readonly value: JsonObject;
  readonly problem?: string;
  readonly text?: string;
}

/** A longer object probably contains all the rows. */
const RECORD_MAX = 4 * 1024 * 1024;

const [NEWLINE, SPACE, QUOTE, COMMA, BACKSLASH] = [10, 32, 34, 44, 92];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

export function looksLikeJson(head: Uint8Array): boolean {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 1024)).toString("utf8");
  return /^\ufeff?\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[{\]["\d]|$))/.test(text);
}

/**
 * Reads an array of objects, NDJSON, or concatenated objects. Only a bad NDJSON line becomes a record with a problem;
 * everything else that isn't an object throws InputError.
 */
export async function* readJsonRecords(input: InputFile): AsyncGenerator<JsonRecord[]> {
  const scanner = new ObjectScanner(input.name);
  try {
    for await (const bytes of toUtf8(input.bytes(), input.encoding)) yield scanner.feed(bytes);
  } catch (error) {
    throw error instanceof EncodingError ? await explainNotText(input, error) : error;
  }
  yield scanner.finish();
}

const NO_END = "an object that begins here has no end; the file is cut off";

class ObjectScanner {
  private carried: Buffer = Buffer.alloc(0);
  private line = 1;
  private blankLines = 0;
  private state: "start" | "array" | "lines" | "objects" | "end" = "start";

  private readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  feed(bytes: Buffer): JsonRecord[] {
    const text = this.carried.length === 0 ? bytes : Buffer.concat([this.carried, bytes]);
    const records: JsonRecord[] = [];
    const at = this.read(text, records);
    if (text.length - at > RECORD_MAX)
      throw new InputError(`${this.name}:${this.line}: an object that begins here is longer than 4 MiB`, {
        hint: "one object a row is required, one after the other or in an array",
      });
    // Copied because the reader may reuse its buffer.
    this.carried = Buffer.from(text.subarray(at));
    return records;
  }

  finish(): JsonRecord[] {
    const { line } = this;
    const isCut = this.carried[0] === OPEN_OBJECT && findObjectEnd(this.carried, 0) === -1;
    // NDJSON is recognized by a line break, which a file with a single line can lack.
    const records = this.feed(Buffer.from("\n\n"));
    const last = records.at(-1);
    if (last?.problem !== undefined && isCut) return [...records.slice(0, -1), { ...last, problem: NO_END }];
    if (this.carried.length === 0 && this.state !== "array") return records;
    const what = this.carried.length === 0 ? "the array has no end; the file is cut off" : NO_END;
    throw new InputError(`${this.name}:${line}: ${what}`, { hint: "save or download it again" });
  }

  private read(text: Buffer, records: JsonRecord[]): number {
    for (let at = 0; at < text.length; at += 1) {
      const byte = text[at] ?? 0;
      if (byte === OPEN_OBJECT && this.state === "start") {
        const layout = detectLayout(text, at);
        if (layout === null) return at;
        this.state = layout;
      }
      if (this.state === "lines") return this.readLines(text, at, records);
      if (byte === NEWLINE) this.line += 1;
      if (byte !== OPEN_OBJECT) this.between(byte);
      else {
        const end = findObjectEnd(text, at);
        if (end === -1) return at;
        records.push(this.parse(text, at, end));
        at = end - 1;
      }
    }
    return text.length;
  }

  private readLines(text: Buffer, start: number, records: JsonRecord[]): number {
    let at = start;
    for (let end = text.indexOf(NEWLINE, at); end !== -1; end = text.indexOf(NEWLINE, at)) {
      const json = end === at ? "" : text.toString("utf8", at, end).trim();
      this.blankLines = json === "" ? this.blankLines + 1 : 0;
      if (json !== "") records.push(this.parseLine(json, end - at));
      this.line += 1;
      at = end + 1;
    }
    if (this.blankLines > BLANK_LINES_MAX) throw new InputError(`${this.name}:${this.line}: ${TOO_MANY_BLANK_LINES}`);
    return at;
  }

  private parseLine(json: string, size: number): JsonRecord {
    const { line } = this;
    const value = parse(json);
    if (isJsonObject(value)) return { line, lineEnds: 0, size, value };
    const problem = value === undefined ? "not valid JSON" : "expected an object";
    return { line, lineEnds: 0, size, value: {}, problem, text: json };
  }

  private between(byte: number): void {
    if (byte <= SPACE) return;
    if (byte === OPEN_ARRAY && this.state === "start") this.state = "array";
    else if (byte === CLOSE_ARRAY && this.state === "array") this.state = "end";
    else if (byte !== COMMA || this.state !== "array")
      throw new InputError(`${this.name}:${this.line}: expected an object, found ${String.fromCharCode(byte)}`, {
        hint: "one object a row is required, one after the other or in an array",
      });
  }

  private parse(text: Buffer, start: number, end: number): JsonRecord {
    if (this.state === "end") throw new InputError(`${this.name}:${this.line}: more text follows the end of the array`);
    const [line, value] = [this.line, parse(text.toString("utf8", start, end))];
    for (let at = text.indexOf(NEWLINE, start); at !== -1 && at < end; at = text.indexOf(NEWLINE, at + 1))
      this.line += 1;
    if (isJsonObject(value)) return { line, lineEnds: this.line - line, size: end - start, value };
    throw new InputError(`${this.name}:${line}: not valid JSON`);
  }
}

function parse(text: string): unknown {
  try {
    return parseWithAllDigits(text);
  } catch {
    return undefined;
  }
}

/** NDJSON if the first or second line is an object. Null if more input is needed. */
function detectLayout(text: Buffer, start: number): "lines" | "objects" | null {
  const first = text.indexOf(NEWLINE, start);
  if (first !== -1 && isObject(text, start, first)) return "lines";
  const second = first === -1 ? -1 : text.indexOf(NEWLINE, first + 1);
  if (second === -1) return text.length - start > RECORD_MAX ? "objects" : null;
  return isObject(text, first + 1, second) ? "lines" : "objects";
}

function isObject(text: Buffer, start: number, end: number): boolean {
  return text[start] === OPEN_OBJECT && parseJsonObject(text.toString("utf8", start, end)) !== null;
}

/** Returns the offset after the closing brace; -1 if it hasn't been read yet. */
function findObjectEnd(text: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) {
      at = findStringEnd(text, at);
      if (at === -1) return -1;
    } else if (byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_OBJECT) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

function findStringEnd(text: Buffer, start: number): number {
  for (let at = text.indexOf(QUOTE, start + 1); at !== -1; at = text.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}
