/** Locales in which no survey is written: no problem, since a survey falls back, but nothing to find out afterwards. */
import { isLocale } from "../../../contract/locales.ts";
import type { Column } from "../table/header.ts";
import type { InputRecord } from "../table/record-parser.ts";

export interface OddLocale {
  readonly locale: string;
  /** Where it stands first. */
  readonly line: number;
  readonly rows: number;
}

export interface LocaleWatch {
  take(record: InputRecord): void;
  readonly found: readonly OddLocale[];
}

/** Others are not told; a column with more is no column of locales. */
const TOLD_MAX = 10;

export function watchLocales(columns: readonly Column[]): LocaleWatch {
  const at = columns.findIndex(({ target }) => target.kind === "property" && target.key === "locale");
  const found = new Map<string, OddLocale>();
  return {
    take({ line, fields }) {
      if (at === -1) return;
      const locale = fields[at] ?? "";
      if (isLocale(locale) || locale.trim() === "") return;
      const before = found.get(locale) ?? { locale, line, rows: 0 };
      if (before.rows > 0 || found.size < TOLD_MAX) found.set(locale, { ...before, rows: before.rows + 1 });
    },
    get found() {
      return [...found.values()];
    },
  };
}
