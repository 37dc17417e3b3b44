import { endsLinesWithCarriageReturns, findDelimiter, detectForeignFormat, readSeparatorLine } from "./format.ts";
import { InputError, type InputFile } from "./input-file.ts";
import { looksLikeJson } from "./json-records.ts";
import { readJsonTable } from "./json-table.ts";
import { explainNotText } from "./not-text.ts";
import { type InputRecord, isEmptyRow, RecordParser } from "./record-parser.ts";
import { EncodingError, toUtf8 } from "./encoding.ts";

/** The first record is the header; blank lines are skipped. Throws InputError. */
export async function* readRecords(input: InputFile): AsyncGenerator<InputRecord[]> {
  let parser: RecordParser | null = null;
  try {
    for await (const bytes of toUtf8(refuseForeign(input), input.encoding)) {
      if (parser !== null) yield parser.feed(bytes);
      else if (looksLikeJson(bytes)) {
        yield* readJsonTable(input);
        return;
      } else {
        const opened = openParser(input, bytes.toString());
        parser = opened.parser;
        yield parser.feed(bytes.subarray(opened.start));
      }
    }
    if (parser !== null) yield parser.finish();
  } catch (error) {
    throw error instanceof EncodingError ? await explainNotText(input, error) : error;
  }
}

export interface TableBatch {
  readonly header: InputRecord;
  readonly rows: readonly InputRecord[];
}

/** Throws InputError for an unreadable header. */
export async function* readTable(input: InputFile): AsyncGenerator<TableBatch> {
  let header: InputRecord | undefined;
  for await (const batch of readRecords(input)) {
    header ??= batch.find((record) => !isEmptyRow(record));
    if (header?.problem !== undefined) throw new InputError(`${input.name}:${header.line}: ${header.problem}`);
    if (header !== undefined) yield { header, rows: batch.slice(batch.indexOf(header) + 1) };
  }
}

async function* refuseForeign(input: InputFile): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const bytes of input.bytes()) {
    const format = isFirst ? detectForeignFormat(bytes) : null;
    if (format !== null) throw new InputError(`${input.name} is ${format.what}`, { hint: format.hint });
    isFirst = false;
    yield bytes;
  }
}

function openParser({ name, delimiter }: InputFile, text: string) {
  if (endsLinesWithCarriageReturns(text))
    throw new InputError(`${name}:1: the lines end in a lone carriage return; \\n or \\r\\n is required`, {
      hint: "convert it: tr '\\r' '\\n' < old.csv > new.csv",
    });
  const separator = readSeparatorLine(text);
  if (separator === null) return { parser: new RecordParser(name, delimiter ?? findDelimiter(text)), start: 0 };
  const start = Buffer.byteLength(text.slice(0, separator.length));
  return { parser: new RecordParser(name, delimiter ?? separator.delimiter, 2), start };
}

/** Lines `first` to `last` as they are in the file, without the last line break. Throws EncodingError. */
export async function readRawLines(input: InputFile, first: number, last: number): Promise<string> {
  const found: string[] = [];
  let line = 1;
  let begun = "";
  for await (const bytes of toUtf8(input.bytes(), input.encoding)) {
    // A trailing carriage return may be the first half of a line break.
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
