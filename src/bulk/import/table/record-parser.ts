/**
 * At a bad quote, csv-parse drops the records it has read so far. So it gets whole lines instead of a stream, and lines
 * with a bad quote are read again one record at a time.
 */
import { CsvError, type Options, parse } from "csv-parse/sync";
import type { Json } from "../../../contract/json.ts";
import { hasGuard, withoutGuard } from "../../../contract/text/formula-guard.ts";
import { InputError } from "./input-file.ts";

export interface InputRecord {
  /** First line of the record, counted from 1 as in an editor. */
  readonly line: number;
  readonly fields: readonly string[];
  /** Number of line breaks inside its fields; `\r\n` counts once. */
  readonly lineEnds: number;
  /** Why the record can't be read. If set, `fields` contains only the record's text. */
  readonly problem?: string;
  readonly values?: readonly Json[];
}

/** A longer record has an unclosed quote, or the file has no line breaks. */
const RECORD_MAX = 4 * 1024 * 1024;

/** Each blank line costs as much as a record. */
export const BLANK_LINES_MAX = 100_000;

export const TOO_MANY_BLANK_LINES = "more than 100,000 blank lines end here; remove them";

const NOT_CLOSED = 'a quoted field begins here and is never closed; a quote inside a field is written ""';
const AFTER_QUOTE = 'text follows a closing quote; a quote inside a field is written ""';
const INSIDE = 'a quote is inside an unquoted field; put the whole field in quotes and write the quote ""';
const SPACE_BEFORE = "a space precedes an opening quote; remove the space";

const NEWLINE = 10;

export class RecordParser {
  private held: Buffer = Buffer.alloc(0);
  /** Doubled while a record doesn't end. */
  private bytesNeeded = 0;
  private readonly records: InputRecord[] = [];
  private blankLines = 0;

  private readonly name: string;
  private readonly options: Options;
  private line: number;

  constructor(name: string, delimiter: string, line = 1) {
    this.name = name;
    this.options = { delimiter, relax_column_count: true, record_delimiter: ["\r\n", "\n"] };
    this.line = line;
  }

  /** Throws InputError if line breaks seem to be missing, or too many lines are blank. */
  feed(bytes: Buffer): InputRecord[] {
    this.held = Buffer.concat([this.held, bytes]);
    if (this.held.length < this.bytesNeeded) return [];
    const records = this.read(this.held.lastIndexOf(NEWLINE) + 1, false);
    this.bytesNeeded = Math.min(2 * this.held.length, RECORD_MAX);
    if (this.held.length > RECORD_MAX)
      throw this.refuse(
        "a record that begins here is longer than 4 MiB; a quote is not closed, or line ends are missing",
      );
    return records;
  }

  finish(): InputRecord[] {
    return this.read(this.held.length, true);
  }

  private read(length: number, isEnd: boolean): InputRecord[] {
    const lines = this.held.subarray(0, length);
    const found = tryParse(lines, this.options);
    if (found instanceof CsvError && found.code === "CSV_QUOTE_NOT_CLOSED" && !isEnd && length <= RECORD_MAX)
      return this.read(lines.lastIndexOf(NEWLINE, Number(found["bytes"])) + 1, false);
    if (found instanceof CsvError) this.readOneByOne(length, isEnd);
    else {
      for (const fields of found) this.take(fields);
      this.held = this.held.subarray(length);
    }
    if (this.blankLines > BLANK_LINES_MAX) throw this.refuse(TOO_MANY_BLANK_LINES);
    return this.records.splice(0);
  }

  private readOneByOne(length: number, isEnd: boolean): void {
    const lines = this.held.subarray(0, length);
    let start = 0;
    const takeUntil = (end: number, fields: string[], fault: string | null): void => {
      if (fault === null) this.take(fields);
      else this.take([lines.toString("utf8", start, end).replace(/\r?\n$/, "")], fault);
      start = end;
    };
    // Keeps a bad quote in its field and ends the record with the line.
    const failure = tryParse(lines, {
      ...this.options,
      relax_quotes: true,
      on_record: (fields: string[], { bytes: end }) =>
        takeUntil(end, fields, findFault(fields, lines.subarray(start, end), this.options)) ?? null,
    });
    if (failure instanceof CsvError && (isEnd || length - start > RECORD_MAX)) {
      const newline = lines.indexOf(NEWLINE, Number(failure["bytes"]));
      takeUntil(newline === -1 ? length : newline + 1, [], NOT_CLOSED);
      this.held = this.held.subarray(start);
      this.readOneByOne(length - start, isEnd);
    } else this.held = this.held.subarray(start);
  }

  private take(fields: readonly string[], problem?: string): void {
    let lineEnds = 0;
    for (const field of fields) lineEnds += countLineEnds(field);
    const { line } = this;
    this.line += 1 + lineEnds;
    const isBlankLine = fields.length === 1 && fields[0] === "";
    this.blankLines = isBlankLine ? this.blankLines + 1 : 0;
    if (isBlankLine) return;
    const swallowed = lineEnds > 0 ? `; lines ${line} to ${line + lineEnds} are one row because of it` : "";
    this.records.push({ line, fields, lineEnds, ...(problem !== undefined && { problem: problem + swallowed }) });
  }

  private refuse(message: string): InputError {
    return new InputError(`${this.name}:${this.line}: ${message}`);
  }
}

function tryParse(lines: Buffer, options: Options): string[][] | CsvError {
  try {
    return parse(lines, options);
  } catch (error) {
    if (error instanceof CsvError) return error;
    throw error;
  }
}

/** Null if the only quotes are those of `="0123"`. */
function findFault(fields: readonly string[], record: Buffer, options: Options): string | null {
  if (fields.every((field) => !field.includes('"') || (field.startsWith("=") && hasGuard(field)))) return null;
  const failure = tryParse(record, options);
  if (!(failure instanceof CsvError)) return null;
  if (failure.code === "CSV_INVALID_CLOSING_QUOTE") return AFTER_QUOTE;
  return /^\s+"/.test(fields[Number(failure["column"])] ?? "") ? SPACE_BEFORE : INSIDE;
}

export function countLineEnds(text: string): number {
  return /[\r\n]/.test(text) ? text.split(/\r\n|\n|\r/).length - 1 : 0;
}

export function isBlank(cell: string): boolean {
  return cell === "" || (cell.charCodeAt(0) <= 32 && cell.trim() === "");
}

/** Ignores empty cells beyond the header. */
export function findExtraCells({ fields }: InputRecord, width: number): string | null {
  if (fields.slice(width).every(isBlank)) return null;
  const expected = `${width} field${width === 1 ? "" : "s"}`;
  return `expected ${expected}, found ${fields.length}; check delimiters and quotes`;
}

/** Spreadsheets save empty rows where cells were cleared. */
export function isEmptyRow({ fields, problem }: InputRecord): boolean {
  return problem === undefined && fields.every((cell) => isBlank(withoutGuard(cell)));
}
