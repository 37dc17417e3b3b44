import { FiltersIgnoredError } from "./errors.ts";
import { createLinkChain } from "./link-chain.ts";
import { keepRows, type CursorList, type RowKeys } from "./lists.ts";
import { createRecentIds, REMEMBERED_ROWS } from "./recent-ids.ts";
import { sortedTimes } from "./sorted-times.ts";
import type { WindowWalker } from "./window-walker.ts";

/** Where a window begins: at a second, or after a first page that was read already. */
export interface CursorStart {
  readonly since: number;
  /** Ids of the rows that were handed over before. */
  readonly seen: Iterable<string>;
  readonly next: string | null;
}

/** Walks one window of a cursor list. A row that a page repeats from those before it is handed over once. */
export function createCursorWalker(
  list: CursorList,
  keys: RowKeys,
  start: CursorStart,
  signal: AbortSignal,
): WindowWalker {
  const follow = createLinkChain(list);
  const seen = createRecentIds(REMEMBERED_ROWS, start.seen);
  let { next } = start;
  let position = start.since;
  let sorted = true;
  return {
    get position() {
      return position;
    },
    get divisible() {
      return sorted;
    },
    async step(span, emit) {
      const { end } = span;
      const page =
        next === null ? await list.open({ since: start.since, until: end }, signal) : await follow(next, signal);
      if (page.rows.some((row) => (keys.at(row) ?? start.since) < start.since)) throw new FiltersIgnoredError();
      const times = sortedTimes(page, keys);
      if (page.rows.length > 0 && (times === null || times.first < position)) sorted = false;
      if (times !== null) position = Math.max(position, times.last);
      next = page.next;
      await emit(keepRows(page, (row) => (keys.at(row) ?? span.end) <= span.end && seen.isNew(keys.id(row))));
      // Only in time order does a row after the end mean that the rest lies there too.
      return next === null || (sorted && position > span.end);
    },
  };
}
