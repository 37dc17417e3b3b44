/** Rows to text, a page at a time; the same for lists and exports. */
import type { JsonObject } from "../../contract/json.ts";
import { splitRowTexts } from "../../contract/row-texts.ts";
import { toCellText } from "./cells.ts";
import type { Column } from "./columns.ts";
import { createJsonWriter } from "./json-rows.ts";
import { createTimeFormatter, type TimeFormat } from "./time.ts";

/** Rows parsed, and the JSON array that they came in; a client's page is one. */
export interface Rows {
  readonly rows: readonly JsonObject[];
  readonly text: string;
}

/** `head()` once, `rows()` for each page in order, `tail()` once; the texts joined are the whole output. */
export interface Encoder {
  head(): string;
  rows(page: Rows): string;
  tail(): string;
}

export type EncodedFormat = "json" | "ndjson" | "csv" | "tsv";

export interface EncoderOptions {
  readonly format: EncodedFormat;
  /** The columns of CSV and TSV. In JSON, null is the whole row as the service sent it, lossless. */
  readonly columns: readonly Column[] | null;
  /** Null is the format's own: ISO 8601 in UTC for CSV and TSV, as the service sent it for JSON. */
  readonly time: TimeFormat | null;
  /** IANA zone of `local` times; null: the system's. */
  readonly zone: string | null;
  /** Unix seconds that `relative` counts from. */
  readonly now: number;
  /** CSV: a first line of column names; default true. */
  readonly header?: boolean;
  /** CSV: `\r\n` instead of `\n`. */
  readonly crlf?: boolean;
  /** CSV and TSV: a byte order mark first. */
  readonly bom?: boolean;
  /** CSV and TSV: `'` before what a spreadsheet would run as a formula; phone columns are left alone. */
  readonly excelSafe?: boolean;
}

export function createEncoder(options: EncoderOptions): Encoder {
  if (options.format === "csv" || options.format === "tsv") return createLineEncoder(options, options.format);
  const write = createJsonWriter(options);
  const texts = write === null ? (page: Rows) => splitRowTexts(page.text) : (page: Rows) => page.rows.map(write);
  return options.format === "json" ? createArrayEncoder(texts) : createNdjsonEncoder(texts);
}

function createArrayEncoder(texts: (page: Rows) => string[]): Encoder {
  let written = 0;
  return {
    head: () => "[",
    rows(page) {
      const rows = texts(page);
      if (rows.length === 0) return "";
      const before = written === 0 ? "\n" : ",\n";
      written += rows.length;
      return before + rows.join(",\n");
    },
    tail: () => (written === 0 ? "]\n" : "\n]\n"),
  };
}

function createNdjsonEncoder(texts: (page: Rows) => string[]): Encoder {
  return {
    head: () => "",
    rows: (page) =>
      texts(page)
        .map((row) => `${oneLine(row)}\n`)
        .join(""),
    tail: () => "",
  };
}

/** Line ends inside a row can only be white space between tokens: JSON escapes them in strings. */
function oneLine(row: string): string {
  return row.includes("\n") || row.includes("\r") ? row.replace(/\s*[\r\n]+\s*/g, "") : row;
}

const BOM = "\ufeff";

function createLineEncoder(options: EncoderOptions, format: "csv" | "tsv"): Encoder {
  const columns = options.columns ?? [];
  const time = createTimeFormatter({ format: options.time ?? "iso", zone: options.zone, now: options.now });
  const line = format === "csv" ? createCsvLine(options.crlf === true ? "\r\n" : "\n") : toTsvLine;
  const guards = columns.map((column) => options.excelSafe === true && column.kind !== "phone");
  const cell = (row: JsonObject, column: Column, index: number): string => {
    const value = column.read(row);
    const text = toCellText(column, value, time);
    return guards[index] === true && typeof value !== "number" ? guardFormula(text) : text;
  };
  const header = format === "csv" && options.header !== false ? line(columns.map(({ name }) => name)) : "";
  return {
    head: () => (options.bom === true ? BOM + header : header),
    rows({ rows }) {
      let text = "";
      for (const row of rows) text += line(columns.map((column, index) => cell(row, column, index)));
      return text;
    },
    tail: () => "",
  };
}

/** RFC 4180. A line of one empty cell is quoted, since a blank line is no row. */
function createCsvLine(end: string): (cells: readonly string[]) => string {
  return (cells) => {
    let text = quote(cells[0] ?? "");
    for (let index = 1; index < cells.length; index += 1) text += `,${quote(cells[index] ?? "")}`;
    return (text === "" ? '""' : text) + end;
  };
}

const NEEDS_QUOTES = /[",\r\n]/;
const SHORT = 64;

function quote(cell: string): string {
  return needsQuotes(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Most cells are short, and a loop over them costs a fifth of what a regular expression does. */
function needsQuotes(cell: string): boolean {
  if (cell.length > SHORT) return NEEDS_QUOTES.test(cell);
  for (let index = 0; index < cell.length; index += 1) {
    const char = cell.charCodeAt(index);
    if (char === 34 || char === 44 || char === 10 || char === 13) return true;
  }
  return false;
}

const TSV_ESCAPES: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\" };

export function toTsvLine(cells: readonly string[]): string {
  return `${cells.map(escapeTsv).join("\t")}\n`;
}

function escapeTsv(cell: string): string {
  return /[\t\n\r\\]/.test(cell) ? cell.replace(/[\t\n\r\\]/g, (char) => TSV_ESCAPES[char] ?? char) : cell;
}

/** Spreadsheets run a cell that begins like this (design: "Output"). */
function guardFormula(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}
