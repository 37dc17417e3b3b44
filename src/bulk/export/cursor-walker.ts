import { FiltersIgnoredError } from "./errors.ts";
import { keepRows, type CursorList, type FetchedPage, type RowKeys, type RowPage } from "./lists.ts";
import { sortedTimes } from "./sorted-times.ts";
import type { Span, WindowWalker } from "./window-walker.ts";

/** Walks one window of a cursor list; `next` is where an already read first page goes on. */
export function createCursorWalker(
  list: CursorList,
  keys: RowKeys,
  start: { readonly since: number; readonly next: string | null },
  signal: AbortSignal,
): WindowWalker {
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
      const page = next === null ? await list.open({ since: start.since, until: end }, signal) : await list.follow(next, signal);
      if (page.rows.some((row) => (keys.at(row) ?? start.since) < start.since)) throw new FiltersIgnoredError();
      const times = sortedTimes(page, keys);
      if (page.rows.length > 0 && (times === null || times.first < position)) sorted = false;
      if (times !== null) position = Math.max(position, times.last);
      next = page.next;
      await emit(withinSpan(page, keys, span));
      // Only in time order does a row after the end mean that the rest lies there too.
      return next === null || (sorted && position > span.end);
    },
  };
}

function withinSpan(page: FetchedPage, keys: RowKeys, span: Span): RowPage {
  return keepRows(page, (row) => (keys.at(row) ?? span.end) <= span.end);
}
