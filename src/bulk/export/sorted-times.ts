import type { RowKeys, RowPage } from "./lists.ts";

/** The times of a page whose rows stand in rising order. */
export interface SortedTimes {
  readonly first: number;
  readonly last: number;
}

/** First and last time of a page in time order; null when it is empty, out of order or lacks a time. */
export function sortedTimes({ rows }: RowPage, keys: RowKeys): SortedTimes | null {
  let first: number | null = null;
  let last = -Infinity;
  for (const row of rows) {
    const at = keys.at(row);
    if (at === null || at < last) return null;
    first ??= at;
    last = at;
  }
  return first === null ? null : { first, last };
}

/** The rows' ids at one second. */
export function idsAt({ rows }: RowPage, keys: RowKeys, second: number): Set<string> {
  return new Set(rows.filter((row) => keys.at(row) === second).map((row) => keys.id(row)));
}
