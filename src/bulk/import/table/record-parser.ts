/** csv-parse as a function from bytes to the records that they complete. */
import { CsvError, parse, type Parser } from "csv-parse";

export interface InputRecord {
  /** As an editor shows it: the first line of the record, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
  /** Inside its fields, `\r\n` counted once. */
  readonly lineEnds: number;
}

/** A record longer than that is a quote that was never closed, or a file without line ends. */
const RECORD_MAX = 4 * 1024 * 1024;

/** Blank lines in a row. Each costs a parser as much as a record. */
export const BLANK_LINES_MAX = 100_000;

export const TOO_MANY_BLANK_LINES = "more than 100,000 blank lines end here; remove them";

/** A record exceeds the limit, or blank lines do. */
export class RecordTooLongError extends Error {
  override readonly name = "RecordTooLongError";
  readonly isBlank: boolean;

  constructor(isBlank: boolean) {
    super(isBlank ? "too many blank lines" : "too long a record");
    this.isBlank = isBlank;
  }
}

/**
 * Collects the records of each chunk instead of streaming them one by one: no promise and no stream event for each of a
 * million records.
 */
export class RecordParser {
  private readonly parser: Parser;
  private records: InputRecord[] = [];
  private line: number;
  private unfinishedBytes = 0;
  private blankLines = 0;

  /** `line` is the one on which the first record begins. */
  constructor(delimiter: string, line = 1) {
    this.line = line;
    this.parser = parse({
      delimiter,
      relax_column_count: true,
      record_delimiter: ["\r\n", "\n"],
    });
    // Reported by `feed` or `finish`.
    this.parser.on("error", () => undefined);
    this.parser.on("readable", () => this.drain());
  }

  /** The line on which the record begins that is being read. */
  get currentLine(): number {
    return this.line;
  }

  /** Throws CsvError, or RecordTooLongError. Blank lines are not records. */
  async feed(bytes: Uint8Array): Promise<InputRecord[]> {
    this.unfinishedBytes += bytes.length;
    if (this.unfinishedBytes > RECORD_MAX) throw new RecordTooLongError(false);
    await new Promise<void>((resolve, reject) => {
      this.parser.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
    const records = this.takeRecords();
    if (this.blankLines > BLANK_LINES_MAX) throw new RecordTooLongError(true);
    return records;
  }

  /** Records that the end of the file completes. Throws CsvError. */
  async finish(): Promise<InputRecord[]> {
    await new Promise<void>((resolve, reject) => {
      this.parser.once("error", reject);
      this.parser.end(resolve);
    });
    return this.takeRecords();
  }

  /** Records that were read since the last call; also after an error. */
  takeRecords(): InputRecord[] {
    this.drain();
    const records = this.records;
    this.records = [];
    return records;
  }

  destroy(): void {
    this.parser.destroy();
  }

  private drain(): void {
    for (let next = this.parser.read() as string[] | null; next !== null; next = this.parser.read() as string[] | null)
      this.take(next);
  }

  private take(record: readonly string[]): void {
    this.unfinishedBytes = 0;
    // Not the parser's own count, which takes a quoted \r\n for two.
    const lineEnds = linesInside(record);
    const isBlank = record.length === 1 && record[0] === "";
    this.blankLines = isBlank ? this.blankLines + 1 : 0;
    if (!isBlank) this.records.push({ line: this.line, fields: record, lineEnds });
    this.line += 1 + lineEnds;
  }
}

function linesInside(fields: readonly string[]): number {
  let count = 0;
  for (const field of fields) count += countLineEnds(field);
  return count;
}

/** Line ends in a text, `\r\n` counted once. */
export function countLineEnds(text: string): number {
  return /[\r\n]/.test(text) ? text.split(/\r\n|\n|\r/).length - 1 : 0;
}

const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted field begins here and is never closed; a quote inside a field is written ""',
  INVALID_OPENING_QUOTE: 'a quote is inside an unquoted field; put the whole field in quotes and write the quote ""',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote; a quote inside a field is written ""',
};

/** The fault of the file where the parser stopped. */
export function describeProblem(error: CsvError | RecordTooLongError): string {
  if (error instanceof CsvError) return PROBLEMS[error.code] ?? error.message;
  if (error.isBlank) return TOO_MANY_BLANK_LINES;
  return "a record that begins here is longer than 4 MiB; a quote is not closed, or line ends are missing";
}
