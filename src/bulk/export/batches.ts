/** What is kept of a page until its turn comes: its text, and what the report and the state need to know. */
import { keepRows, type RowKeys, type RowPage } from "./lists.ts";
import type { Noted } from "./versions.ts";

export interface Batch {
  /**
   * Its rows as UTF-8, empty without any. Bytes and not text: they lie outside the garbage-collected heap, where text
   * of a thousand pieces would be copied again and again while it waits.
   */
  readonly bytes: Uint8Array;
  readonly rows: number;
  /** Unix seconds; null when no row has a time. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  /** What the next incremental run has to know again. */
  readonly versions: readonly Noted[];
  /** Keys of maps that become columns, in the order in which they stand. */
  readonly found: readonly string[];
}

export interface BatchMaker {
  readonly keys: RowKeys;
  readonly encode: (page: RowPage) => string;
  /** Whether a row is written at all; null: every row. */
  readonly keep: ((row: RowPage["rows"][number]) => boolean) | null;
  readonly versionsOf: (page: RowPage) => readonly Noted[];
  readonly find: (page: RowPage) => readonly string[];
}

/** What is kept of one page. */
export function makeBatch({ keys, encode, keep, versionsOf, find }: BatchMaker, page: RowPage): Batch {
  const kept = keep === null ? page : keepRows(page, keep);
  let firstAt: number | null = null;
  let lastAt: number | null = null;
  for (const row of kept.rows) {
    const at = keys.at(row);
    if (at === null) continue;
    firstAt = firstAt === null || at < firstAt ? at : firstAt;
    lastAt = lastAt === null || at > lastAt ? at : lastAt;
  }
  const bytes = Buffer.from(kept.rows.length === 0 ? "" : encode(kept));
  return { bytes, rows: kept.rows.length, firstAt, lastAt, versions: versionsOf(kept), found: find(kept) };
}
