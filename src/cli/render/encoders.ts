import type { stringify } from "csv-stringify/sync";
import { guardFormula, guardPhone } from "../../contract/text/formula-guard.ts";
import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
import { RESOURCES } from "../../contract/resources.ts";
import { rowsWithMarks, unmarkLongNumbers } from "../../contract/long-numbers.ts";
import { splitRowTexts } from "../../contract/row-texts.ts";
import type { PageEncoder, RowPage } from "../../contract/row-page.ts";
import { toCellText, type Column } from "./columns.ts";
import { indentJson } from "./json-indent.ts";
import { createTimeFormatter, type TimeFormat, type TimeFormatter } from "./time.ts";

export type EncodedFormat = "json" | "ndjson" | "csv" | "tsv";

export function isJson(format: string | null): boolean {
  return format === "json" || format === "ndjson";
}

export interface EncoderOptions {
  readonly format: EncodedFormat;
  /** If null, each row's JSON is written as the service sent it. */
  readonly columns: readonly Column[] | null;
  readonly timeFields?: readonly string[];
  /** If null, CSV and TSV have ISO 8601 times in UTC, and times in JSON are left unchanged. */
  readonly time: TimeFormat | null;
  readonly zone: string | null;
  readonly now: number;
  readonly indent?: boolean;
  readonly stringify: typeof stringify | null;
  readonly header?: boolean;
  /** Adds a byte order mark, CRLF line endings in CSV, and `'` before formulas. */
  readonly excel?: boolean;
}

export function createEncoder(options: EncoderOptions): PageEncoder {
  if (options.format === "csv" || options.format === "tsv") return createLineEncoder(options);
  const write = createJsonWriter(options);
  const texts =
    write === null
      ? (page: RowPage) => splitRowTexts(page.text)
      : (page: RowPage) => withExactNumbers(page, (rows) => rows.map(write));
  if (options.format === "ndjson") {
    const toLines = (page: RowPage): string[] => texts(page).map((row) => `${oneLine(row)}\n`);
    return { head: "", between: "", rows: (page) => toLines(page).join(""), tail: () => "" };
  }
  return {
    head: "[",
    between: ",",
    rows(page) {
      const rows = options.indent === true ? texts(page).map((row) => `  ${indentJson(row, 1)}`) : texts(page);
      return rows.length === 0 ? "" : `\n${rows.join(",\n")}`;
    },
    tail: (rows) => (rows === 0 ? "]\n" : "\n]\n"),
  };
}

function oneLine(row: string): string {
  return row.includes("\n") || row.includes("\r") ? row.replace(/[\r\n]\s*/g, "") : row;
}

const BOM = "\ufeff";

function createLineEncoder(options: EncoderOptions): PageEncoder {
  const columns = options.columns ?? [];
  const toLines = options.stringify === null ? toTsvLines : createCsvWriter(options.stringify, options.excel);
  const toCells = createCellWriter(options, columns);
  const { header = true, excel = false } = options;
  const names = header && options.format === "csv" ? toLines([columns.map(({ name }) => name)]) : "";
  return {
    head: header && excel ? BOM + names : names,
    between: "",
    rows: (page) => withExactNumbers(page, (rows) => [toLines(rows.map(toCells))]).join(""),
    tail: () => "",
  };
}

export function withExactNumbers(page: RowPage, write: (rows: readonly JsonObject[]) => readonly string[]): string[] {
  const exact = rowsWithMarks(page);
  return exact === null ? [...write(page.rows)] : write(exact).map(unmarkLongNumbers);
}

function createCellWriter(options: EncoderOptions, columns: readonly Column[]): (row: JsonObject) => string[] {
  const time = createTimeFormatter({ format: options.time ?? "iso", zone: options.zone, now: options.now });
  const cells = columns.map((column): ((row: JsonObject) => string) => {
    if (options.excel !== true) return (row) => toCellText(column, column.read(row), time);
    const guard = column.kind === "phone" ? guardPhone : guardFormula;
    return (row) => {
      const value = column.read(row);
      const text = toCellText(column, value, time);
      // Only text is guarded against formulas: a negative number starts with a minus sign too, but is harmless.
      return typeof value === "number" ? text : guard(text);
    };
  });
  return (row) => cells.map((cell) => cell(row));
}

/** Quotes a single empty cell, because a blank line isn't a row. */
function createCsvWriter(write: typeof stringify, crlf = false): (rows: string[][]) => string {
  return (rows) =>
    write(rows, {
      record_delimiter: crlf ? "\r\n" : "\n",
      // Some readers treat either character as a line break. `quote_record_delimiter` would do this too, but takes a
      // tenth longer.
      quoted_match: ["\n", "\r"],
      quote_record_delimiter: false,
      quoted_empty: rows[0]?.length === 1,
    });
}

/** Some readers strip a leading quote from a cell, so cells that begin with one are quoted. */
export function toTsvLines(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.map(escapeTsv).join("\t")}\n`).join("");
}

const TSV_ESCAPES: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\" };

function escapeTsv(cell: string): string {
  const line = /[\t\n\r\\]/.test(cell) ? cell.replace(/[\t\n\r\\]/g, (char) => TSV_ESCAPES[char] ?? char) : cell;
  return line.startsWith('"') ? `"${line.replaceAll('"', '""')}"` : line;
}

type JsonRowOptions = Pick<EncoderOptions, "columns" | "timeFields" | "time" | "zone" | "now">;

export function createJsonWriter(options: JsonRowOptions): ((row: JsonObject) => string) | null {
  const { columns, timeFields = [], time, zone, now } = options;
  const retime =
    time === null || time === "unix"
      ? null
      : { write: createTimeFormatter({ format: time, zone, now }), fields: new Set([...TIME_FIELDS, ...timeFields]) };
  if (columns === null) return retime === null ? null : (row) => JSON.stringify(rewriteTimes(row, retime));
  return (row) =>
    JSON.stringify(Object.fromEntries(columns.map((column) => [column.name, readColumn(column, row, retime)])));
}

interface Retiming {
  readonly write: TimeFormatter;
  readonly fields: ReadonlySet<string>;
}

function readColumn(column: Column, row: JsonObject, retime: Retiming | null): Json {
  const value = column.read(row) ?? null;
  if (retime === null) return value;
  if (typeof value === "number") return column.kind === "time" ? retime.write(value) : value;
  return column.name.endsWith("properties") ? value : rewriteTimes(value, retime);
}

const TIME_FIELDS: ReadonlySet<string> = new Set(
  Object.values(RESOURCES)
    .flat()
    .filter(({ type }) => type === "timestamp")
    .map(({ name }) => name),
);
/** Customers choose the keys of these maps, so a key such as `created_at` doesn't mean that the value is a time. */
const CUSTOM_MAPS: ReadonlySet<string> = new Set(["properties", "person_properties"]);

function rewriteTimes(value: Json, retime: Retiming): Json {
  if (Array.isArray(value)) return value.map((item) => rewriteTimes(item, retime));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (CUSTOM_MAPS.has(key)) return [key, item];
      return [
        key,
        typeof item === "number" && retime.fields.has(key) ? retime.write(item) : rewriteTimes(item, retime),
      ];
    }),
  );
}
