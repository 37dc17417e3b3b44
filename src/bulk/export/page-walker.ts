/**
 * Walks one window of a page-numbered list by time instead of by number: each request asks for what lies at or
 * after the last second that was read, so rows that arrive or vanish elsewhere shift nothing.
 */
import { readBusyStretch } from "./busy-stretch.ts";
import { FiltersIgnoredError } from "./errors.ts";
import { keepRows, type FetchedPage, type PageList, type RowKeys, type RowPage } from "./lists.ts";
import { idsAt, sortedTimes } from "./sorted-times.ts";
import type { Span, WindowWalker } from "./window-walker.ts";

export interface PageWalkerOptions {
  readonly list: PageList;
  readonly keys: RowKeys;
  /** The first second to ask for, and the ids at it that were handed over before. */
  readonly since: number;
  readonly seen: ReadonlySet<string>;
  /** Rows of a full page. */
  readonly fullSize: number;
  /** Pages of a busy second asked for at once. */
  readonly ahead: number;
  readonly signal: AbortSignal;
}

/** A second that fills a page is read by number, and so are rows out of time order. */
export function createPageWalker(options: PageWalkerOptions): WindowWalker {
  const { list, keys, fullSize, signal } = options;
  let position = options.since;
  let seen = options.seen;
  let sorted = true;

  const readByNumber = (since: number, until: number, emit: (page: RowPage) => Promise<void>): Promise<void> =>
    readBusyStretch({
      walk: {
        fetch: (page) => list.fetch({ since, until, page }, signal),
        from: 1,
        fullSize,
        ahead: options.ahead,
        expectedLast: null,
        fault: list.fault,
      },
      keys,
      until,
      before: seen,
      emit,
    });

  const takeFresh = (page: FetchedPage, end: number): RowPage =>
    keepRows(page, (row) => {
      const at = keys.at(row) ?? position;
      return at <= end && !(at === position && seen.has(keys.id(row)));
    });

  return {
    get position() {
      return position;
    },
    get divisible() {
      return sorted;
    },
    async step(span: Span, emit) {
      const page = await list.fetch({ since: position, until: span.end, page: 1 }, signal);
      if (page.rows.some((row) => (keys.at(row) ?? position) < position)) throw new FiltersIgnoredError();
      const times = sortedTimes(page, keys);
      if (times === null || (times.last === position && page.rows.length >= fullSize)) {
        return stepByNumber(page, times === null ? span.end : position, span, emit);
      }
      const fresh = takeFresh(page, span.end);
      seen = times.last === position ? seen : idsAt(page, keys, times.last);
      // Moved before anything waits: a split must not fall into what has been read.
      position = times.last;
      await emit(fresh);
      return page.rows.length < fullSize || position > span.end;
    },
  };

  /** Rows out of time order up to `until`, or a second that fills the page: page numbers have to do. */
  async function stepByNumber(
    page: FetchedPage,
    until: number,
    span: Span,
    emit: (page: RowPage) => Promise<void>,
  ): Promise<boolean> {
    if (page.rows.length === 0) return true;
    sorted &&= until === position;
    await readByNumber(position, until, emit);
    seen = new Set();
    position = until + 1;
    return position > span.end;
  }
}
