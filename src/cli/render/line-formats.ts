/** How values stand in lines of text: CSV and TSV. */
import type { Json } from "../../contract/json.ts";

export interface LineFormat {
  /** A value's text so that it stays one field. */
  readonly field: (text: string) => string;
  /** A map or an array as JSON in one field. */
  readonly json: (value: Json) => string;
  readonly separator: string;
  readonly end: string;
  /** A line without any text. */
  readonly blank: string;
}

/** RFC 4180. A line of one empty cell is quoted, since a blank line is no row. */
export function csvLines(crlf: boolean): LineFormat {
  return {
    field: (text) => (needsQuotes(text) ? quote(text) : text),
    json: quoteJson,
    separator: ",",
    end: crlf ? "\r\n" : "\n",
    blank: '""',
  };
}

const NEEDS_QUOTES = /[",\r\n]/;
const SHORT = 64;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const QUOTE = 34;
const COMMA = 44;

/** Most cells are short, and a loop over them costs a fifth of what a regular expression does. */
function needsQuotes(cell: string): boolean {
  if (cell.length > SHORT) return NEEDS_QUOTES.test(cell);
  for (let index = 0; index < cell.length; index += 1) {
    const char = cell.charCodeAt(index);
    if (char <= COMMA && (char === QUOTE || char === COMMA || char === LINE_FEED || char === CARRIAGE_RETURN))
      return true;
  }
  return false;
}

/** Piece by piece, which takes two thirds of the time of `replaceAll`. */
function quote(cell: string): string {
  let text = '"';
  let start = 0;
  for (let end = cell.indexOf('"'); end !== -1; end = cell.indexOf('"', start)) {
    text += `${cell.slice(start, end + 1)}"`;
    start = end + 1;
  }
  return `${text}${start === 0 ? cell : cell.slice(start)}"`;
}

/** JSON's quotes are written twice at once, which takes half the time of `JSON.stringify` and `quote`. */
function quoteJson(value: Json): string {
  const text = doubleQuotedJson(value);
  return needsQuotes(text) ? `"${text}"` : text;
}

function doubleQuotedJson(value: Json): string {
  if (typeof value === "string") return doubleQuotedText(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  let items = "";
  if (Array.isArray(value)) {
    for (const item of value) items += (items === "" ? "" : ",") + doubleQuotedJson(item);
    return `[${items}]`;
  }
  for (const key of Object.keys(value))
    items += `${items === "" ? "" : ","}${doubleQuotedText(key)}:${doubleQuotedJson(value[key] ?? null)}`;
  return `{${items}}`;
}

/** Anything but plain characters: quotes, backslashes and controls, and the halves of pairs among the rest. */
const NEEDS_ESCAPES = /[^ !#-[\]-\ud7ff]/;

function doubleQuotedText(text: string): string {
  return NEEDS_ESCAPES.test(text) ? JSON.stringify(text).replaceAll('"', '""') : `""${text}""`;
}

const TSV_ESCAPES: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\" };

export const TSV_LINES: LineFormat = {
  field: escapeTsv,
  json: (value) => escapeTsv(JSON.stringify(value)),
  separator: "\t",
  end: "\n",
  blank: "",
};

function escapeTsv(cell: string): string {
  return /[\t\n\r\\]/.test(cell) ? cell.replace(/[\t\n\r\\]/g, (char) => TSV_ESCAPES[char] ?? char) : cell;
}

export function toTsvLine(cells: readonly string[]): string {
  return `${cells.map(escapeTsv).join(TSV_LINES.separator)}${TSV_LINES.end}`;
}
