/** Columns that say who must not be surveyed. */
import { withoutGuard } from "../../../contract/text/formula-guard.ts";
import type { HeaderColumn } from "../table/header.ts";
import { personKeys } from "./identities.ts";
import type { RowValues } from "./row-kind.ts";

/** When somebody left or an address failed: `unsubscribed_at` of our exports, `Opt-Out Date`, `Bounced On`. */
const OPT_OUT_TIME =
  /^(?:unsubscribed?|bounced?|complain(?:ed|t)|suppress(?:ed|ion)|opt(?:ed)?[ _-]?out)[ _-](?:at|on|date|time)$/i;
const LOOKS_LIKE_OPT_OUT = /unsubscri|opt(?:ed)?[ _-]?out|do[ _-]?not|suppress|bounced/i;
const NOTHING = /^(?:|0|no|false|never|null|none|nan|n\/a|-)$/i;

export interface OptOuts {
  /** Rows with an opt-out. */
  readonly rows: number;
  /** Other headers that look like an opt-out. */
  readonly lookalikes: readonly string[];
  /** The header by which a row's person opted out, on any row; null for everybody else. */
  headerFor(values: RowValues): string | null;
  take(fields: readonly string[], values: RowValues): void;
}

export function watchOptOuts(columns: readonly HeaderColumn[]): OptOuts {
  const headers = columns.map(({ header }) => header.trim());
  const times = headers.flatMap((header, index) => (OPT_OUT_TIME.test(header) ? [index] : []));
  const people = new Map<string, string>();
  const watch = {
    rows: 0,
    lookalikes: headers.filter((header) => LOOKS_LIKE_OPT_OUT.test(header) && !OPT_OUT_TIME.test(header)),
    headerFor: (values: RowValues) =>
      (people.size > 0 &&
        personKeys(values)
          .map((key) => people.get(key))
          .find((header) => header !== undefined)) ||
      null,
    take(fields: readonly string[], values: RowValues) {
      const found = times.find((index) => !NOTHING.test(withoutGuard(fields[index] ?? "").trim()));
      if (found === undefined) return;
      watch.rows += 1;
      for (const key of personKeys(values)) people.set(key, headers[found] ?? "");
    },
  };
  return watch;
}
