/** A file as records with the line on which each begins, in batches; nothing is held longer than its batch. */
import { CsvError } from "csv-parse";
import { endsLinesWithCarriageReturns, findDelimiter, foreignFormatOf, readSeparatorLine } from "./format.ts";
import { InputError, type InputFile } from "./input-file.ts";
import { describeProblem, RecordParser, RecordTooLongError, type InputRecord } from "./record-parser.ts";
import { EncodingError, toUtf8 } from "./utf8-bytes.ts";

/**
 * Throws InputError for what is not a table; the system's error for a file that cannot be read. Blank lines are not
 * records.
 */
export async function* readRecords(input: InputFile): AsyncGenerator<InputRecord[]> {
  let parser: RecordParser | null = null;
  try {
    for await (const bytes of toUtf8(refuseForeign(input), input.encoding)) {
      if (parser !== null) yield await parser.feed(bytes);
      else {
        const opened = openParser(input, bytes.toString());
        parser = opened.parser;
        yield await parser.feed(bytes.subarray(opened.start));
      }
    }
    if (parser !== null) yield await parser.finish();
  } catch (error) {
    if (error instanceof EncodingError) throw await notText(input, error);
    if (parser === null || !(error instanceof CsvError || error instanceof RecordTooLongError)) throw error;
    // Records that were read before it broke are checked all the same: every problem is listed in one pass.
    yield parser.takeRecords();
    throw notATable(input.name, parser.currentLine, error);
  } finally {
    parser?.destroy();
  }
}

/** The bytes of a file, unless the first ones show another format. Throws InputError. */
async function* refuseForeign(input: InputFile): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const bytes of input.bytes()) {
    const format = isFirst ? foreignFormatOf(bytes) : null;
    if (format !== null) throw new InputError(`${input.name} is ${format.what}`, { hint: format.hint });
    isFirst = false;
    yield bytes;
  }
}

/** `start` is the byte at which the table begins: a line for Excel alone may come first. */
function openParser(
  { name, delimiter }: InputFile,
  text: string,
): { readonly parser: RecordParser; readonly start: number } {
  if (endsLinesWithCarriageReturns(text))
    throw new InputError(`${name}:1: the lines end in a lone carriage return; \\n or \\r\\n is required`, {
      hint: "convert it: tr '\\r' '\\n' < old.csv > new.csv",
    });
  const told = readSeparatorLine(text);
  if (told === null) return { parser: new RecordParser(delimiter ?? findDelimiter(text)), start: 0 };
  const start = Buffer.byteLength(text.slice(0, told.length));
  return { parser: new RecordParser(delimiter ?? told.delimiter, 2), start };
}

/** The place where the bytes are no text, and what they may be. */
export async function notText(input: InputFile, cause: EncodingError): Promise<InputError> {
  const { line, byte } = await placeOf(input, cause.offset);
  const place = `${input.name}:${line}`;
  if (cause.encoding !== "utf-8")
    return new InputError(`${place}: ${cause.encoding.toUpperCase()} that is broken near byte ${cause.offset}`, {
      hint: input.encoding === null ? 'save the file again as "CSV UTF-8"' : "the file may be in another encoding",
      cause,
    });
  // UTF-16 has one in nearly every pair of bytes.
  if (cause.isZero && cause.offset > 1)
    return new InputError(`${place}: the text contains a zero byte`, {
      hint: "remove zero bytes: tr -d '\\000' < old.csv > new.csv",
      cause,
    });
  const met = cause.isZero ? `UTF-16${cause.offset === 0 ? "BE" : "LE"}` : "WINDOWS-1252";
  const found = cause.isZero ? `it looks like ${met} without a byte order mark` : `byte 0x${byte}, as in ${met}`;
  return new InputError(`${place}: the text is neither UTF-8 nor UTF-16 with a byte order mark (${found})`, {
    fix: { kind: "encoding", encoding: met },
    cause,
  });
}

/** The line of a byte and the byte itself, in hexadecimal; only asked for when something is wrong there. */
async function placeOf(input: InputFile, offset: number): Promise<{ readonly line: number; readonly byte: string }> {
  let [line, start] = [1, 0];
  for await (const bytes of input.bytes()) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = Math.min(chunk.length, offset - start);
    for (let at = chunk.indexOf(10); at !== -1 && at < end; at = chunk.indexOf(10, at + 1)) line += 1;
    if (end < chunk.length) return { line, byte: chunk.toString("hex", end, end + 1) };
    start += chunk.length;
  }
  return { line, byte: "" };
}

/** An open quote is reported where its record begins, anything else where the parser found it. */
function notATable(name: string, recordLine: number, error: CsvError | RecordTooLongError): InputError {
  const met =
    error instanceof CsvError && error.code !== "CSV_QUOTE_NOT_CLOSED" ? ((error as { lines?: number }).lines ?? 0) : 0;
  return new InputError(`${name}:${Math.max(recordLine, met)}: ${describeProblem(error)}`, { cause: error });
}

/**
 * Lines of the input as it has them, decoded and otherwise untouched: from line `first` to line `last`, counted from
 * 1 as an editor does, without the last one's end. Throws EncodingError.
 */
export async function readRawLines(input: InputFile, first: number, last: number): Promise<string> {
  const found: string[] = [];
  let line = 1;
  let begun = "";
  for await (const bytes of toUtf8(input.bytes(), input.encoding)) {
    // A carriage return at the end may be the first half of a line end.
    const rawLines = (begun + bytes.toString()).split(/(?<=\n|\r(?!\n|$))/);
    begun = rawLines.pop() ?? "";
    for (const rawLine of rawLines) {
      if (line >= first && line <= last) found.push(rawLine);
      line += 1;
    }
    if (line > last) break;
  }
  if (line >= first && line <= last) found.push(begun);
  return found.join("").replace(/(?:\r\n|\n|\r)$/, "");
}
