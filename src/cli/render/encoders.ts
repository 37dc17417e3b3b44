/** Rows to text, a page at a time; the same for lists and exports. */
import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
import { isE164 } from "../../contract/phone.ts";
import { RESOURCES } from "../../contract/resources.ts";
import { markLongNumbers, mayHoldLongNumbers, splitRowTexts, unmarkLongNumbers } from "../../contract/row-texts.ts";
import { toCellText, type Column } from "./columns.ts";
import { indentJson } from "./json-indent.ts";
import { csvLines, TSV_LINES } from "./line-formats.ts";
import { createTimeFormatter, type TimeFormat, type TimeFormatter } from "./time.ts";

/** Rows parsed, and the JSON array that they came in; a client's page is one. */
export interface Rows {
  readonly rows: readonly JsonObject[];
  readonly text: string;
  /** The text of the page that they are some of, where that is at hand and `text` has to be made. */
  readonly source?: string;
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
  /** JSON: each row on lines of its own, for people; default false. */
  readonly indent?: boolean;
  /** CSV: a first line of column names; default true. */
  readonly header?: boolean;
  /** CSV: `\r\n` instead of `\n`. */
  readonly crlf?: boolean;
  /** CSV and TSV: a byte order mark first. */
  readonly bom?: boolean;
  /** CSV and TSV: `'` before what a spreadsheet would run as a formula; phone numbers are left alone. */
  readonly excelSafe?: boolean;
}

/** An encoder keeps what it wrote in mind: one for each output. */
export function createEncoder(options: EncoderOptions): Encoder {
  if (options.format === "csv" || options.format === "tsv") return createLineEncoder(options, options.format);
  const write = createJsonWriter(options);
  const texts = write === null ? (page: Rows) => splitRowTexts(page.text) : (page: Rows) => page.rows.map(write);
  if (options.format === "ndjson") return createNdjsonEncoder(texts);
  return createArrayEncoder(
    options.indent === true ? (page) => texts(page).map((row) => `  ${indentJson(row, 1)}`) : texts,
  );
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
  const { field, json, separator, end, blank } = format === "csv" ? csvLines(options.crlf === true) : TSV_LINES;
  const cells = columns.map((column): ((row: JsonObject) => string) => {
    const guard = options.excelSafe !== true ? null : column.kind === "phone" ? guardPhone : guardFormula;
    return (row) => {
      const value = column.read(row);
      if (typeof value === "object" && value !== null) return json(value);
      const text = toCellText(column, value, time);
      // Neither a number nor a time holds anything that a line gives a meaning to.
      if (typeof value === "number") return text;
      return field(guard === null ? text : guard(text));
    };
  });
  const [first = () => "", ...others] = cells;
  const line = (row: JsonObject): string => {
    let text = first(row);
    for (const cell of others) text += separator + cell(row);
    return (text === "" ? blank : text) + end;
  };
  const hasHeader = format === "csv" && options.header !== false;
  const header = hasHeader ? columns.map(({ name }) => field(name)).join(separator) + end : "";
  return {
    head: () => (options.bom === true ? BOM + header : header),
    rows(page) {
      const exact = mayHoldLongNumbers(page.source ?? page.text) ? markLongNumbers(page.text) : null;
      const rows = exact === null ? page.rows : (JSON.parse(exact) as JsonObject[]);
      let text = "";
      for (const row of rows) text += line(row);
      return exact === null ? text : unmarkLongNumbers(text);
    },
    tail: () => "",
  };
}

/** Spreadsheets run a cell that begins like this. One that has its `'` already gets another, which an import takes away. */
function guardFormula(cell: string): string {
  return /^'?[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}

/** The `+` of a phone number is no formula's. */
function guardPhone(cell: string): string {
  return isE164(cell) ? cell : guardFormula(cell);
}

interface JsonRowOptions {
  readonly columns: readonly Column[] | null;
  readonly time: TimeFormat | null;
  readonly zone: string | null;
  readonly now: number;
}

/**
 * How `--columns` and `--time` change a row's JSON: an object of the columns named, times rewritten.
 * Null when neither is given: then the row's own text is the output.
 */
export function createJsonWriter({ columns, time, zone, now }: JsonRowOptions): ((row: JsonObject) => string) | null {
  const retime = time === null || time === "unix" ? null : createTimeFormatter({ format: time, zone, now });
  if (columns === null) return retime === null ? null : (row) => JSON.stringify(rewriteTimes(row, retime));
  return (row) =>
    JSON.stringify(Object.fromEntries(columns.map((column) => [column.name, readColumn(column, row, retime)])));
}

function readColumn(column: Column, row: JsonObject, retime: TimeFormatter | null): Json {
  const value = column.read(row) ?? null;
  if (retime === null) return value;
  if (typeof value === "number") return column.kind === "time" ? retime(value) : value;
  return column.name.endsWith("properties") ? value : rewriteTimes(value, retime);
}

const TIME_FIELDS: ReadonlySet<string> = new Set(
  Object.values(RESOURCES)
    .flat()
    .filter(({ type }) => type === "timestamp")
    .map(({ name }) => name),
);
/** Maps of the customer's own keys: nothing in them is a time of ours. */
const CUSTOM_MAPS: ReadonlySet<string> = new Set(["properties", "person_properties"]);

function rewriteTimes(value: Json, retime: TimeFormatter): Json {
  if (Array.isArray(value)) return value.map((item) => rewriteTimes(item, retime));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (CUSTOM_MAPS.has(key)) return [key, item];
      return [key, typeof item === "number" && TIME_FIELDS.has(key) ? retime(item) : rewriteTimes(item, retime)];
    }),
  );
}
