import { PAGINATION_LOOP } from "../../contract/text/link.ts";
import { isWholeList } from "../../contract/limits.ts";
import { keepRows, type RowPage } from "../../contract/row-page.ts";
import {
  type FetchedPage,
  type PagedList,
  type PageName,
  RecentIds,
  type RowKeys,
  sameAgain,
  sortedTimes,
} from "./lists.ts";

export class FiltersIgnoredError extends Error {
  override readonly name = "FiltersIgnoredError";

  constructor() {
    super("the service answers with rows outside the requested time range");
  }
}

export interface TimeSpan {
  /** Unix seconds, both inclusive. */
  readonly since: number;
  readonly until: number;
  readonly seen: RecentIds;
  /** Width of the first window, in seconds. */
  readonly width: number;
}

interface Window {
  readonly since: number;
  readonly until: number;
  readonly seen: RecentIds;
  /** Null at the start of a window. */
  readonly next: PageName;
  readonly followed: Set<string>;
  readonly isSorted: boolean;
}

export interface WindowsOptions<Batch> {
  readonly list: PagedList;
  readonly keys: RowKeys;
  readonly perPage: number;
  readonly concurrency: number;
  /** Called for each page in order of arrival. Returns what to keep until it is yielded. */
  readonly toBatch: (page: RowPage) => Batch;
  readonly signal: AbortSignal;
}

/** Larger windows would make the workers finish at different times; smaller ones would need more requests. */
const WINDOW_PAGES = 16;
/** Limits how many pages wait to be yielded. */
const WINDOW_PAGES_MAX = 24;
/** Maximum factor by which windows widen, because an empty window says little about the right width. */
const WIDENING_MAX = 8;

interface Part<Batch> {
  readonly batches: readonly Batch[];
  readonly pages: number;
  readonly rest: Window | null;
}

interface Task<Batch> {
  window: Window;
  part: Promise<Part<Batch>> | null;
}

/**
 * Yields every row of the span once, in order. Windows have the same width, adjusted to the size of the last one.
 * Throws FiltersIgnoredError, before yielding anything, if the service ignores the start of the range.
 */
export async function* readInWindows<Batch>(options: WindowsOptions<Batch>, span: TimeSpan): AsyncGenerator<Batch> {
  const stopping = new AbortController();
  const { tasks, running, fill } = openQueue(options, span, stopping);
  try {
    fill();
    for (let head = tasks[0]; head !== undefined; head = tasks[0]) {
      if (head.part === null) await Promise.race(running);
      if (head.part === null) continue;
      yield* (await head.part).batches;
      tasks.shift();
      fill();
    }
  } catch (error) {
    throw options.signal.aborted || !stopping.signal.aborted ? error : stopping.signal.reason;
  } finally {
    stopping.abort();
    await Promise.allSettled(running);
  }
}

function openQueue<Batch>(
  options: WindowsOptions<Batch>,
  { since, until, seen, width }: TimeSpan,
  stopping: AbortController,
) {
  const signal = AbortSignal.any([options.signal, stopping.signal]);
  const tasks: Task<Batch>[] = [{ window: openWindow(since, until, seen), part: null }];
  const running = new Set<Promise<unknown>>();
  const state = { width, arrived: 0 };

  const fill = (): void => {
    // The first responses show whether the service respects time ranges.
    const most = Math.min(options.concurrency, state.arrived + 1);
    while (running.size < most && tasks.filter(({ part }) => part !== null).length < 2 * options.concurrency) {
      const task = tasks.find(({ part }) => part === null);
      if (task === undefined) return;
      cut(task);
      const part = read(task.window);
      task.part = part;
      running.add(part);
      part.then(
        (done) => finish(task, done),
        (error: unknown) => stopping.abort(error),
      );
    }
  };
  /** The rest of the window becomes a new task. */
  const cut = (task: Task<Batch>): void => {
    const end = task.window.since + state.width - 1;
    if (task.window.next !== null || end >= task.window.until) return;
    addAfter(task, openWindow(end + 1, task.window.until));
    task.window = { ...task.window, until: end };
  };
  const addAfter = (task: Task<Batch>, window: Window): void => {
    tasks.splice(tasks.indexOf(task) + 1, 0, { window, part: null });
  };
  const read = (window: Window): Promise<Part<Batch>> =>
    readWindow({ ...options, signal }, window, () => {
      state.arrived += 1;
      fill();
    });
  const finish = (task: Task<Batch>, { pages, rest }: Part<Batch>): void => {
    if (task.part !== null) running.delete(task.part);
    const { window } = task;
    const seconds = (rest?.since ?? window.until + 1) - window.since;
    const factor = WINDOW_PAGES / Math.max(pages, WINDOW_PAGES / WIDENING_MAX);
    if (seconds > 0) state.width = Math.ceil(seconds * factor);
    if (rest !== null) addAfter(task, rest);
    fill();
  };
  return { tasks, running, fill };
}

function openWindow(since: number, until: number, seen: RecentIds = new RecentIds()): Window {
  return { since, until, seen, next: null, followed: new Set(), isSorted: true };
}

/**
 * Reads at most 24 pages of a window. Numbered lists are read by time, each request from the last second read, so that
 * rows added or removed elsewhere don't shift the pages. Only an empty page ends a list. Rows out of order, and seconds
 * with more rows than fit on a page, are read by page number: if one of those rows is removed between two requests,
 * another row may be missed, which the API can't prevent.
 */
async function readWindow<Batch>(
  { list, keys, perPage, toBatch, signal }: WindowsOptions<Batch>,
  window: Window,
  onPage: () => void,
): Promise<Part<Batch>> {
  const { until, seen, followed } = window;
  let { since, next, isSorted } = window;
  let full = perPage;
  let before = "";
  const batches: Batch[] = [];
  // A closure, so that no local variable keeps the rows alive during the next request (this saves 3% of an export's
  // time).
  const take = (page: FetchedPage) => {
    onPage();
    const { rows, text } = page;
    if (rows.length > 0) {
      if (next !== null && text === before) throw list.fault(sameAgain(next), next);
      if (next === null && rows.some((row) => (keys.at(row) ?? since) < since)) throw new FiltersIgnoredError();
      const fresh = keepRows(page, (row) => (keys.at(row) ?? until) <= until && seen.isNew(keys.id(row)));
      if (fresh.rows.length > 0) batches.push(toBatch(fresh));
    }
    return { count: rows.length, text, times: sortedTimes(page, keys), following: page.next };
  };
  for (let pages = 1; pages <= WINDOW_PAGES_MAX; pages += 1) {
    const { count, text, times, following } = await list.fetch({ since, until, page: next }, signal).then(take);
    const ended = { batches, pages, rest: null };
    if (list.isNumbered && count === 0) return ended;
    isSorted &&= count === 0 || (times !== null && times.first >= since);
    const last = isSorted && times !== null ? times.last : since;
    if (last > until || following === null) return ended;
    if (list.isNumbered && count < full) {
      const after = await list.fetch({ since, until, page: following }, signal);
      if (after.rows.length === 0 || (after.text === text && isWholeList(count, perPage))) return ended;
      // The service's pages are this long, so the next page of this length needs no extra request to check for the end.
      full = count;
    }
    if (typeof following === "string" && followed.has(following)) throw list.fault(PAGINATION_LOOP, following);
    if (typeof following === "string") followed.add(following);
    next = list.isNumbered && last > since ? null : following;
    before = text;
    since = last;
  }
  // Until a window's start has moved, it is read by page number and can't be split.
  const isByTime = isSorted && since > window.since;
  const rest = isByTime ? openWindow(since, until, seen) : { ...window, since, next, isSorted };
  return { batches, pages: WINDOW_PAGES_MAX, rest };
}
