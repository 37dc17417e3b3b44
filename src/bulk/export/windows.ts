/** Reads a span of time in windows: a queue of them in the order of time, several read at once. */
import { isWholeList } from "../../contract/limits.ts";
import { keepRows, type RowPage } from "../../contract/row-page.ts";
import {
  CIRCLE,
  createRecentIds,
  SAME_AGAIN,
  sameAgain,
  sortedTimes,
  type CursorList,
  type FetchedPage,
  type PageList,
  type RecentIds,
  type RowKeys,
} from "./lists.ts";

/** The service answered a request for a time range with rows from before it. */
export class FiltersIgnoredError extends Error {
  override readonly name = "FiltersIgnoredError";

  constructor() {
    super("the service answers with rows outside the requested time range");
  }
}

export interface TimeSpan {
  /** First and last second, Unix. */
  readonly since: number;
  readonly until: number;
  /** Knows the rows of the first second that were handed over before. */
  readonly seen: RecentIds;
  /** A first guess, in seconds, of what 16 pages span. */
  readonly width: number;
}

interface Window {
  /** First and last second, Unix. */
  readonly since: number;
  readonly until: number;
  /** Rows that were handed over before. */
  readonly seen: RecentIds;
  /** The page that comes next within it, as a number or a link; null at its start. */
  readonly next: number | string | null;
  /** Links that were followed: a list must not lead in a circle. */
  readonly followed: Set<string>;
  readonly isSorted: boolean;
}

export interface WindowsOptions<Batch> {
  readonly list: PageList | CursorList;
  readonly keys: RowKeys;
  /** Rows asked for in a page. */
  readonly perPage: number;
  readonly concurrency: number;
  /** The part of a page that is kept until its turn comes; called as pages come in, in any order. */
  readonly toBatch: (page: RowPage) => Batch;
  readonly signal: AbortSignal;
}

/** Pages that a window is made to hold: more makes the end uneven, fewer costs more requests that find an end. */
const WINDOW_PAGES = 16;
/** A window that holds more ends there, so that what waits for its turn is bounded; the rest is another window. */
const WINDOW_PAGES_MAX = 24;
/** An empty window is little evidence of how wide the next may be. */
const WIDENING_MAX = 8;

interface Part<Batch> {
  readonly batches: readonly Batch[];
  readonly pages: number;
  /** The part of the window that is left to read; null when it has been read to its end. */
  readonly rest: Window | null;
}

interface Task<Batch> {
  window: Window;
  /** Null until its turn to be read comes. */
  part: Promise<Part<Batch>> | null;
}

/**
 * Every row of the span once, in order. Windows are equally wide; the width follows from what the latest one held.
 * Ends with the first error of any window: a `FiltersIgnoredError`, before anything was handed on, when the service
 * ignores where a range begins.
 */
export async function* readInWindows<Batch>(options: WindowsOptions<Batch>, span: TimeSpan): AsyncGenerator<Batch> {
  const stopping = new AbortController();
  const { tasks, running, fill } = openQueue(options, span, stopping);
  try {
    fill();
    for (let head = tasks[0]; head !== undefined; head = tasks[0]) {
      // Those that run finish first and make room.
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

interface Queue<Batch> {
  /** In the order of time. */
  readonly tasks: Task<Batch>[];
  readonly running: ReadonlySet<Promise<unknown>>;
  /** Starts as many tasks as may run. */
  readonly fill: () => void;
}

/** The first error of any window aborts `stopping`. */
function openQueue<Batch>(
  options: WindowsOptions<Batch>,
  { since, until, seen, width }: TimeSpan,
  stopping: AbortController,
): Queue<Batch> {
  const signal = AbortSignal.any([options.signal, stopping.signal]);
  const tasks: Task<Batch>[] = [{ window: openWindow(since, until, seen), part: null }];
  const running = new Set<Promise<unknown>>();
  const state = { width, arrived: 0 };

  const fill = (): void => {
    // Few at first: the first answers show whether the service honours time ranges.
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
  /** Leaves the task as much as one window is wide. */
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

function openWindow(since: number, until: number, seen: RecentIds = createRecentIds()): Window {
  return { since, until, seen, next: null, followed: new Set(), isSorted: true };
}

/**
 * At most 24 pages of a window. A numbered list is read by time: each request asks for the rows at or after the last
 * second that was read, so rows that arrive or vanish elsewhere shift nothing. A list ends at an empty page, not at a
 * short one.
 *
 * A second with more rows than a page, and rows out of time order, are read by page number. There a row that appears on
 * two pages is handed on once, and rows that are added do no harm. What is not guaranteed: when a row of that second is
 * removed between two requests, those behind it move up by one place, and one of them may be missed. No parameter of
 * the API rules that out; the service's count, where there is one, shows it.
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
  // A function of its own: its frame does not hold the rows while the next page is awaited, 3 % of an export.
  const take = (page: FetchedPage): Taken => {
    onPage();
    const { rows, text } = page;
    if (rows.length > 0) {
      if (typeof next === "number" && text === before) throw list.fault(sameAgain(next));
      if (typeof next === "string" && text === before) throw list.fault(SAME_AGAIN, next);
      if (next === null && rows.some((row) => (keys.at(row) ?? since) < since)) throw new FiltersIgnoredError();
      const fresh = keepRows(page, (row) => (keys.at(row) ?? until) <= until && seen.isNew(keys.id(row)));
      if (fresh.rows.length > 0) batches.push(toBatch(fresh));
    }
    return { count: rows.length, text, times: sortedTimes(page, keys), following: nextOf(list, page, next) };
  };
  for (let pages = 1; pages <= WINDOW_PAGES_MAX; pages += 1) {
    const { count, text, times, following } = await fetchPage(list, { since, until, next }, signal).then(take);
    const ended = { batches, pages, rest: null };
    if (list.kind === "page" && count === 0) return ended;
    isSorted &&= count === 0 || (times !== null && times.first >= since);
    const last = isSorted && times !== null ? times.last : since;
    if (last > until || following === null) return ended;
    if (list.kind === "page" && count < full) {
      const after = await fetchPage(list, { since, until, next: following }, signal);
      if (after.rows.length === 0 || (after.text === text && isWholeList(count, perPage))) return ended;
      // So long are this service's pages, and the next one need not be asked for twice.
      full = count;
    }
    if (typeof following === "string" && followed.has(following)) throw list.fault(CIRCLE, following);
    if (typeof following === "string") followed.add(following);
    next = list.kind === "page" && last > since ? null : following;
    before = text;
    since = last;
  }
  // By time where time has passed, so that the rest can be cut; else by the page.
  const isByTime = isSorted && since > window.since;
  const rest = isByTime ? openWindow(since, until, seen) : { ...window, since, next, isSorted };
  return { batches, pages: WINDOW_PAGES_MAX, rest };
}

/** The part of a page that is kept. */
interface Taken {
  readonly count: number;
  readonly text: string;
  readonly times: ReturnType<typeof sortedTimes>;
  readonly following: Window["next"];
}

function nextOf({ kind }: PageList | CursorList, page: FetchedPage, next: Window["next"]): Window["next"] {
  if (kind === "cursor") return page.next;
  return (typeof next === "number" ? next : 1) + 1;
}

function fetchPage(
  list: PageList | CursorList,
  { since, until, next }: Pick<Window, "since" | "until" | "next">,
  signal: AbortSignal,
): Promise<FetchedPage> {
  if (list.kind === "page") return list.fetch({ since, until, page: typeof next === "number" ? next : 1 }, signal);
  return typeof next === "string" ? list.follow(next, signal) : list.open({ since, until }, signal);
}
