/** A file as records with the line on which each begins, in batches; nothing is held longer than its batch. */
import { createReadStream } from "node:fs";
import { CsvError } from "csv-parse";
import { findDelimiter } from "./delimiter.ts";
import { InputError } from "./input-error.ts";
import { describeProblem, RecordParser, RecordTooLongError, type InputRecord } from "./record-parser.ts";
import { EncodingError, toUtf8 } from "./utf8-bytes.ts";

export interface InputFile {
  readonly path: string;
  /** As messages call it: the name that was given, or `standard input`. */
  readonly name: string;
  /** Null: found by looking at the first record. */
  readonly delimiter: string | null;
}

const CHUNK_BYTES = 64 * 1024;

/** Throws InputError for what is no table; the system's error for a file that cannot be read. Blank lines are no records. */
export async function* readRecords(input: InputFile): AsyncGenerator<InputRecord[]> {
  let parser: RecordParser | null = null;
  try {
    for await (const bytes of toUtf8(readBytes(input.path))) {
      parser ??= new RecordParser(input.delimiter ?? findDelimiter(bytes.toString()));
      yield await parser.feed(bytes);
    }
    if (parser !== null) yield await parser.finish();
  } catch (error) {
    if (error instanceof EncodingError) throw await notText(input, error);
    if (parser === null || !(error instanceof CsvError || error instanceof RecordTooLongError)) throw error;
    // What was read before it broke is judged all the same: every problem is told in one pass.
    yield parser.takeRecords();
    throw notATable(input.name, parser.currentLine, error);
  } finally {
    parser?.destroy();
  }
}

function readBytes(path: string): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: CHUNK_BYTES });
}

/** How files begin that hold a table and are none, and what makes one of them. */
const PACKED = [
  { mark: "1f8b", what: "is compressed with gzip", hint: "unpack it: gunzip -c old.csv.gz | surveyctl … import -" },
  { mark: "504b0304", what: "is a spreadsheet or another archive", hint: 'in the spreadsheet, save it as "CSV UTF-8"' },
];

async function notText(input: InputFile, cause: EncodingError): Promise<InputError> {
  const head = await readHead(input.path);
  const packed = PACKED.find(({ mark }) => head.startsWith(mark));
  if (packed !== undefined) return new InputError(`${input.name} ${packed.what}`, { hint: packed.hint, cause });
  const place = `${input.name}:${1 + (await countLinesBefore(input.path, cause.offset))}`;
  // UTF-16 has one in nearly every pair of bytes.
  if (cause.isZero && cause.offset > 1)
    return new InputError(`${place}: a zero byte stands in the text`, {
      hint: "take them out: tr -d '\\000' < old.csv > new.csv",
      cause,
    });
  const encoding = cause.isZero ? `UTF-16${cause.offset === 0 ? "BE" : "LE"}` : "WINDOWS-1252";
  return new InputError(`${place}: the text is neither UTF-8 nor UTF-16 with a byte order mark`, {
    hint: `save the file as "CSV UTF-8", or convert it: iconv -f ${encoding} -t UTF-8 < old.csv > new.csv`,
    cause,
  });
}

/** The first four bytes, in hex. */
async function readHead(path: string): Promise<string> {
  for await (const chunk of createReadStream(path, { end: 3 }) as AsyncIterable<Buffer>) return chunk.toString("hex");
  return "";
}

/** Line feeds in front of a byte; only asked for when something is wrong there. */
async function countLinesBefore(path: string, offset: number): Promise<number> {
  let count = 0;
  if (offset === 0) return count;
  for await (const chunk of createReadStream(path, { end: offset - 1 }) as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) count += 1;
  }
  return count;
}

/** An open quote is told where its record begins, anything else where the parser met it. */
function notATable(name: string, recordLine: number, error: CsvError | RecordTooLongError): InputError {
  const met =
    error instanceof CsvError && error.code !== "CSV_QUOTE_NOT_CLOSED" ? ((error as { lines?: number }).lines ?? 0) : 0;
  return new InputError(`${name}:${Math.max(recordLine, met)}: ${describeProblem(error)}`, { cause: error });
}
