/** Valid and probably wrong: locales without a survey, cells that have swallowed rows. */
import { isEmail } from "../../../contract/text/email.ts";
import { findLocale } from "../../../contract/locales.ts";
import { isE164 } from "../../../contract/text/phone.ts";
import { DELIMITERS } from "../table/format.ts";
import type { HeaderColumn } from "../table/header.ts";
import { countLineEnds, type InputRecord } from "../table/record-parser.ts";

export interface OddLocale {
  readonly locale: string;
  /** The first line that has it. */
  readonly line: number;
  readonly rows: number;
}

export interface LocaleWatch {
  take(record: InputRecord): void;
  readonly found: readonly OddLocale[];
}

/** No more are reported; a column with more does not hold locales. */
const REPORTED_MAX = 10;

export function watchLocales(columns: readonly HeaderColumn[]): LocaleWatch {
  const at = columns.findIndex(({ target }) => target.kind === "property" && target.key === "locale");
  const found = new Map<string, OddLocale>();
  return {
    take({ line, fields }) {
      if (at === -1) return;
      const locale = fields[at] ?? "";
      if (findLocale(locale) !== null || locale.trim() === "") return;
      const before = found.get(locale) ?? { locale, line, rows: 0 };
      if (before.rows > 0 || found.size < REPORTED_MAX) found.set(locale, { ...before, rows: before.rows + 1 });
    },
    get found() {
      return [...found.values()];
    },
  };
}

export interface StrayQuote {
  /** The line on which the cell begins. */
  readonly line: number;
  /** The header of its column; empty where there is none. */
  readonly column: string;
  readonly lineEnds: number;
}

/** Texts that people write have fewer. */
const LINE_ENDS_MAX = 20;

/** The first suspicious cell of a record; null for a record that looks sound. */
export function findStrayQuote(record: InputRecord, columns: readonly HeaderColumn[]): StrayQuote | null {
  const { line, fields } = record;
  if (record.lineEnds === 0) return null;
  let before = 0;
  for (const [index, cell] of fields.entries()) {
    const lineEnds = countLineEnds(cell);
    if (lineEnds > LINE_ENDS_MAX || (lineEnds > 0 && holdsRows(cell, columns.length)))
      return { line: line + before, column: columns[index]?.header ?? "", lineEnds };
    before += lineEnds;
  }
  return null;
}

function holdsRows(cell: string, width: number): boolean {
  const [, ...below] = cell.split(/\r\n|\n|\r/);
  return below.some((text) => looksLikeRow(text, width));
}

/** As many fields as the header has, and one of them identifies a person. */
function looksLikeRow(text: string, width: number): boolean {
  return DELIMITERS.some((delimiter) => {
    const cells = text.split(delimiter).map((cell) => cell.replaceAll('"', "").trim());
    return cells.length === width && width > 1 && cells.some((cell) => isEmail(cell) || isE164(cell));
  });
}
