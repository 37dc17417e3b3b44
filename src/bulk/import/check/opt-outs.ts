/** Columns that say who must not be surveyed. */
import { withoutGuard } from "../../../contract/text/formula-guard.ts";
import type { HeaderColumn } from "../table/header.ts";
import { createLineNumbers, type LineNumbers } from "../table/line-numbers.ts";
import { keptLine } from "./identities.ts";

/** When somebody left or an address failed: `unsubscribed_at` of our exports, `Opt-Out Date`, `Bounced On`. */
const OPT_OUT_TIME =
  /^(?:unsubscribed?|bounced?|complain(?:ed|t)|suppress(?:ed|ion)|opt(?:ed)?[ _-]?out)[ _-](?:at|on|date|time)$/i;
const LOOKS_LIKE_OPT_OUT = /unsubscri|opt(?:ed)?[ _-]?out|do[ _-]?not|suppress|bounced/i;
const NOTHING = /^(?:|0|no|false|never|null|none|nan|n\/a|-)$/i;

interface OptOutWatch {
  readonly lookalikes: readonly string[];
  take(line: number, fields: readonly string[]): void;
  /** The header by which a line's person opted out, there or on a line that is dropped for it. */
  finish(keptBy: LineNumbers): (line: number) => string | null;
}

export function watchOptOuts(columns: readonly HeaderColumn[]): OptOutWatch {
  const headers = columns.map(({ header }) => header.trim());
  const times = headers.flatMap((header, index) => (OPT_OUT_TIME.test(header) ? [index] : []));
  /** A column, counted from 1. */
  const columnOf = createLineNumbers(Uint32Array);
  return {
    lookalikes: headers.filter((header) => LOOKS_LIKE_OPT_OUT.test(header) && !OPT_OUT_TIME.test(header)),
    take(line, fields) {
      const found = times.find((index) => !NOTHING.test(withoutGuard(fields[index] ?? "").trim()));
      if (found !== undefined) columnOf.set(line, found + 1);
    },
    finish(keptBy) {
      for (let line = 1; line < columnOf.end; line += 1)
        if (columnOf.get(line) !== 0) columnOf.set(keptLine(keptBy, line), columnOf.get(line));
      return (line) => headers[columnOf.get(line) - 1] ?? null;
    },
  };
}
