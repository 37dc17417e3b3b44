/** A file as records with the line on which each begins, in batches; nothing is held longer than its batch. */
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { CsvError, parse, type Parser } from "csv-parse";
import { decodeText } from "./decode-text.ts";
import { findDelimiter } from "./delimiter.ts";
import { InputError } from "./input-error.ts";

export interface InputRecord {
  /** As an editor shows it: the first line of the record, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

export interface InputFile {
  readonly path: string;
  /** As messages call it: the name that was given, or `standard input`. */
  readonly name: string;
  /** Null: found by looking at the first record. */
  readonly delimiter: string | null;
}

const CHUNK_BYTES = 256 * 1024;
/** A field longer than that is a quote that was never closed. */
const RECORD_MAX = 4 * 1024 * 1024;

/** Throws InputError for what is no table; the system's error for a file that cannot be read. Blank lines are no records. */
export async function* readRecords(input: InputFile): AsyncGenerator<InputRecord[]> {
  const text = decodeText(createReadStream(input.path, { highWaterMark: CHUNK_BYTES }), input.name);
  const first = await text.next();
  if (first.done === true) return;
  const source = Readable.from(prepend(first.value, text), { objectMode: false, highWaterMark: CHUNK_BYTES });
  const parser = openParser(input.delimiter ?? findDelimiter(first.value));
  source.on("error", (error) => parser.destroy(error));
  source.pipe(parser);
  let line = 1;
  try {
    for await (const batch of readBatches(parser)) {
      const records: InputRecord[] = [];
      for (const fields of batch) {
        if (fields.length > 1 || fields[0] !== "") records.push({ line, fields });
        line += 1 + linesInside(fields);
      }
      yield records;
    }
  } catch (error) {
    throw error instanceof CsvError ? notATable(input.name, line, error) : error;
  } finally {
    source.destroy();
    parser.destroy();
  }
}

function openParser(delimiter: string): Parser {
  return parse({ delimiter, relax_column_count: true, record_delimiter: ["\r\n", "\n", "\r"], max_record_size: RECORD_MAX });
}

async function* prepend(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

/** Whatever the parser has ready at once: far cheaper than a promise for each record. */
async function* readBatches(parser: Parser): AsyncGenerator<string[][]> {
  const state: { ended: boolean; error: Error | null; wake: () => void } = { ended: false, error: null, wake: () => undefined };
  const wake = (): void => state.wake();
  parser.on("readable", wake);
  parser.on("end", () => {
    state.ended = true;
    wake();
  });
  parser.on("error", (error: Error) => {
    state.error = error;
    wake();
  });
  for (;;) {
    const batch: string[][] = [];
    for (let record = parser.read() as string[] | null; record !== null; record = parser.read() as string[] | null) batch.push(record);
    if (batch.length > 0) yield batch;
    if (state.error !== null) throw state.error;
    if (state.ended) return;
    if (batch.length > 0) continue;
    await new Promise<void>((resolve) => {
      state.wake = resolve;
      if (state.ended || state.error !== null || parser.readableLength > 0) resolve();
    });
  }
}

function linesInside(fields: readonly string[]): number {
  let count = 0;
  for (const field of fields) {
    if (!field.includes("\n") && !field.includes("\r")) continue;
    count += field.split(/\r\n|\n|\r/).length - 1;
  }
  return count;
}

const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted field begins here and is never closed; a quote inside a field is written ""',
  INVALID_OPENING_QUOTE: 'a quote stands inside an unquoted field; put the whole field in quotes and write the quote ""',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote; a quote inside a field is written ""',
  CSV_MAX_RECORD_SIZE: "a record is longer than 4 MiB; a quote was probably never closed",
};

function notATable(name: string, line: number, error: CsvError): InputError {
  const at = error.code === "CSV_QUOTE_NOT_CLOSED" ? line : Math.max(line, (error as { lines?: number }).lines ?? line);
  return new InputError(`${name}:${at}: ${PROBLEMS[error.code] ?? error.message}`, { cause: error });
}
