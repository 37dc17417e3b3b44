import { findLocale } from "../../../contract/locales.ts";
import { isEmail } from "../../../contract/text/email.ts";
import { hasGuard } from "../../../contract/text/formula-guard.ts";
import { quoteText } from "../../../contract/text/invisible.ts";
import { isE164 } from "../../../contract/text/phone.ts";
import { DELIMITERS } from "../table/format.ts";
import type { HeaderColumn } from "../table/header.ts";
import { countLineEnds, type InputRecord, isEmptyRow } from "../table/record-parser.ts";
import { createProblemList, type ProblemGroup } from "./problem-list.ts";
import type { RowKind } from "./row-kind.ts";
import type { ValidFields } from "./validate.ts";

interface OddLocale {
  readonly locale: string;
  readonly line: number;
  readonly rows: number;
}

interface StrayQuote {
  readonly line: number;
  readonly column: string;
  readonly lineEnds: number;
}

export interface Oddities {
  readonly emptyRows: number;
  readonly unevenRows: number;
  /** Number of cells from which the leading `'` of a formula guard was removed. */
  readonly guardedCells: number;
  readonly formulaCells: number;
  readonly strayQuotes: readonly StrayQuote[];
  readonly oddLocales: readonly OddLocale[];
  readonly doubts: readonly ProblemGroup[];
  readonly unsaved: readonly ProblemGroup[];
  readonly overriddenRows: number;
  /** Number of responses without a time; a repeated import can't recognize them. */
  readonly untimedRows: number;
}

/**
 * Maximum stray quotes and unknown locales to report. A column with more unknown values probably isn't about locales.
 */
const REPORTED_MAX = 10;

const PLACEHOLDERS: ReadonlySet<string> = new Set(["nan", "NaN", "NULL", "null", "None", "N/A", "n/a", "\\N"]);
const PLACEHOLDER_MAX = 4;

export function watchOddities(kind: RowKind, columns: readonly HeaderColumn[], kindsMax: number) {
  const texts = columns.flatMap(({ target }, index) => (isText(target) ? [{ index, column: columnName(target) }] : []));
  const localeAt = texts.find(({ column }) => column === "locale")?.index ?? -1;
  const locales = new Map<string, OddLocale>();
  const [doubts, unsaved] = [createProblemList(kindsMax), createProblemList(kindsMax)];
  const strayQuotes: StrayQuote[] = [];
  const rows = { emptyRows: 0, unevenRows: 0, overriddenRows: 0, untimedRows: 0 };
  const cells = { guardedCells: 0, formulaCells: 0 };
  return {
    get found(): Oddities {
      const lists = { strayQuotes, oddLocales: [...locales.values()], doubts: doubts.groups, unsaved: unsaved.groups };
      return { ...rows, ...cells, ...lists };
    },
    takeAny(record: InputRecord): void {
      if (isEmptyRow(record)) rows.emptyRows += 1;
      // JSON cells have no guards of other programs, so only the cells of CSV and TSV files are counted.
      for (const cell of record.values === undefined ? record.fields : [])
        if (hasGuard(cell)) cells[cell.startsWith("=") ? "formulaCells" : "guardedCells"] += 1;
      const stray = strayQuotes.length < REPORTED_MAX ? findStrayQuote(record, columns) : null;
      if (stray !== null) strayQuotes.push(stray);
    },
    takeValid({ line, fields }: InputRecord, { values, overridden }: ValidFields): void {
      if (fields.length !== columns.length) rows.unevenRows += 1;
      if (overridden) rows.overriddenRows += 1;
      if (kind.repeats === "answer" && values["created_at"] === undefined) rows.untimedRows += 1;
      const value = kind.findUnsaved?.(values) ?? null;
      if (value !== null) unsaved.add(line, value);
      if (localeAt !== -1) takeLocale(locales, line, fields[localeAt] ?? "");
      for (const { index, column } of texts) {
        const cell = fields[index] ?? "";
        if (cell.length <= PLACEHOLDER_MAX && PLACEHOLDERS.has(cell))
          doubts.add(line, { column, message: `${quoteText(cell)} is imported as text` });
      }
      const { email } = values;
      if (typeof email === "string" && !email.includes(".", email.lastIndexOf("@")))
        doubts.add(line, { column: "email", message: `${quoteText(email)} has a domain without a dot` });
    },
  };
}

function isText(target: HeaderColumn["target"]): boolean {
  return target.kind === "property" || (target.kind === "field" && ["text", "comment"].includes(target.field.rule));
}

function columnName(target: HeaderColumn["target"]): string {
  if (target.kind === "field") return target.field.name;
  return target.kind === "property" ? target.key : "";
}

function takeLocale(locales: Map<string, OddLocale>, line: number, locale: string): void {
  if (findLocale(locale) !== null || locale.trim() === "") return;
  const before = locales.get(locale) ?? { locale, line, rows: 0 };
  if (before.rows > 0 || locales.size < REPORTED_MAX) locales.set(locale, { ...before, rows: before.rows + 1 });
}

const LINE_ENDS_MAX = 20;

function findStrayQuote(record: InputRecord, columns: readonly HeaderColumn[]): StrayQuote | null {
  const { line, fields } = record;
  if (record.lineEnds === 0 || record.problem !== undefined || record.values !== undefined) return null;
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

function looksLikeRow(text: string, width: number): boolean {
  return DELIMITERS.some((delimiter) => {
    const cells = text.split(delimiter).map((cell) => cell.replaceAll('"', "").trim());
    return cells.length === width && width > 1 && cells.some((cell) => isEmail(cell) || isE164(cell));
  });
}
