/** Every row of a list once, in the list's order: in parallel windows of time where that works, in one walk else. */
import { PER_PAGE_DEFAULT } from "../../contract/limits.ts";
import { createCursorWalker } from "./cursor-walker.ts";
import { FiltersIgnoredError } from "./errors.ts";
import { createLimiter } from "./limiter.ts";
import { createLinkChain } from "./link-chain.ts";
import {
  keepRows,
  limitList,
  type CursorList,
  type FetchedPage,
  type PageList,
  type Range,
  type RowKeys,
  type RowPage,
} from "./lists.ts";
import { walkPages } from "./page-walk.ts";
import { createPageWalker } from "./page-walker.ts";
import { createRecentIds, REMEMBERED_ROWS } from "./recent-ids.ts";
import { sortedTimes, type SortedTimes } from "./sorted-times.ts";
import { walkWindows } from "./window-walk.ts";
import type { WindowWalker } from "./window-walker.ts";
import { createWindows } from "./windows.ts";

export interface ListWalk<Batch> {
  readonly list: PageList | CursorList;
  readonly keys: RowKeys;
  /** What the user asked for. */
  readonly range: Range;
  /** Rows asked for in a page. */
  readonly perPage: number;
  readonly concurrency: number;
  /** The last second of the snapshot, Unix seconds; asked once, with the first page. */
  readonly fixUntil: (first: FetchedPage) => Promise<number>;
  /** How many rows there are, when that is known by now. */
  readonly expectedRows: () => number | null;
  /** What is kept of a page; called as pages come in, in any order. */
  readonly digest: (page: RowPage) => Batch;
  readonly signal: AbortSignal;
}

interface Begun<Batch> extends ListWalk<Batch> {
  readonly first: FetchedPage;
  readonly until: number;
  readonly fullSize: number;
}

/** Ends with the first error that a request ends with; requests that are under way then, or no longer of use, are aborted. */
export async function* walkList<Batch>(options: ListWalk<Batch>): AsyncGenerator<Batch> {
  const stopping = new AbortController();
  const signal = AbortSignal.any([options.signal, stopping.signal]);
  try {
    yield* walkBegun(
      await begin({ ...options, signal, list: limitList(options.list, createLimiter(options.concurrency)) }),
    );
  } finally {
    stopping.abort();
  }
}

async function* walkBegun<Batch>(walk: Begun<Batch>): AsyncGenerator<Batch> {
  const { first, keys, digest, until } = walk;
  if (first.rows.length > 0) yield digest(inRange(walk, first));
  if (isLast(walk, first)) return;
  const times = sortedTimes(first, keys);
  // A row from before the range shows at once that the service ignores it.
  const minds = first.rows.every((row) => (keys.at(row) ?? Infinity) >= (walk.range.since ?? -Infinity));
  const windowed = times !== null && minds && (walk.list.kind === "page" || walk.list.hasTimes);
  if (windowed && times.last > until) return;
  if (windowed) yield* walkWindowsOrWhole(walk, times);
  else yield* walkWhole(walk);
}

async function* walkWindowsOrWhole<Batch>(walk: Begun<Batch>, times: SortedTimes): AsyncGenerator<Batch> {
  let handedOn = 0;
  try {
    for await (const batch of walkInWindows(walk, times)) {
      handedOn += 1;
      yield batch;
    }
    return;
  } catch (error) {
    if (!(error instanceof FiltersIgnoredError)) throw error;
    if (handedOn > 0) throw walk.list.fault(error.message);
  }
  yield* walkWhole(walk);
}

async function begin<Batch>(walk: ListWalk<Batch>): Promise<Begun<Batch>> {
  const { list, range, signal } = walk;
  const first = await (list.kind === "page" ? list.fetch({ ...range, page: 1 }, signal) : list.open(range, signal));
  const [until, fullSize] = await Promise.all([walk.fixUntil(first), fullSizeOf(walk, first)]);
  return { ...walk, first, until, fullSize };
}

/**
 * Only a first page of at least the default size may be short because the service gives fewer rows in a page than
 * were asked for: one more request tells.
 */
async function fullSizeOf<Batch>(
  { list, perPage, range, signal }: ListWalk<Batch>,
  { rows }: FetchedPage,
): Promise<number> {
  const doubtful = list.kind === "page" && rows.length >= PER_PAGE_DEFAULT && rows.length < perPage;
  if (!doubtful) return perPage;
  const second = await list.fetch({ ...range, page: 2 }, signal);
  return second.rows.length > 0 ? rows.length : perPage;
}

function isLast<Batch>({ list, fullSize }: Begun<Batch>, page: FetchedPage): boolean {
  return list.kind === "page" ? page.rows.length < fullSize : page.next === null;
}

/** A service that ignores the range sends more than was asked for. */
function inRange<Batch>({ range, until, keys }: Begun<Batch>, page: RowPage): RowPage {
  const since = range.since ?? -Infinity;
  return keepRows(page, (row) => {
    const at = keys.at(row);
    return at === null || (at >= since && at <= until);
  });
}

async function* walkInWindows<Batch>(walk: Begun<Batch>, times: SortedTimes): AsyncGenerator<Batch> {
  const stopping = new AbortController();
  const signal = AbortSignal.any([walk.signal, stopping.signal]);
  const { first, until, keys, concurrency, fullSize } = walk;
  const windows = createWindows<Batch>({
    density: { rows: first.rows.length - 1, seconds: times.last - times.first },
    range: { since: times.last, until },
    fullSize,
    concurrency,
    head: walkerOf(walk, { since: times.last, seen: idsOf(first, keys), next: first.next }, signal),
    walk: (since) => walkerOf(walk, { since, seen: new Set(), next: null }, signal),
  });
  const proof = proveFilters(walk, times, signal);
  yield* walkWindows({ windows, concurrency, digest: walk.digest, proof, stop: () => stopping.abort() });
}

interface WalkerStart {
  readonly since: number;
  readonly seen: ReadonlySet<string>;
  readonly next: string | null;
}

function walkerOf<Batch>(
  { list, keys, fullSize, concurrency }: Begun<Batch>,
  start: WalkerStart,
  signal: AbortSignal,
): WindowWalker {
  if (list.kind === "cursor") return createCursorWalker(list, keys, start, signal);
  return createPageWalker({ ...start, list, keys, fullSize, ahead: concurrency, signal });
}

/** Asks for the snapshot's last second alone, which costs little: a row from before it shows that times are ignored. */
async function proveFilters<Batch>(
  { list, keys, until }: Begun<Batch>,
  times: SortedTimes,
  signal: AbortSignal,
): Promise<void> {
  if (until <= times.last) return;
  const range = { since: until, until };
  const page = await (list.kind === "page" ? list.fetch({ ...range, page: 1 }, signal) : list.open(range, signal));
  if (page.rows.some((row) => (keys.at(row) ?? until) < until)) throw new FiltersIgnoredError();
}

function idsOf({ rows }: RowPage, keys: RowKeys): Set<string> {
  return new Set(rows.map((row) => keys.id(row)));
}

async function* walkWhole<Batch>(walk: Begun<Batch>): AsyncGenerator<Batch> {
  const { keys, first } = walk;
  const seen = createRecentIds(REMEMBERED_ROWS, idsOf(first, keys));
  for await (const page of pagesAfterFirst(walk)) {
    const fresh = inRange(
      walk,
      keepRows(page, (row) => seen.isNew(keys.id(row))),
    );
    if (fresh.rows.length > 0) yield walk.digest(fresh);
  }
}

async function* pagesAfterFirst<Batch>(walk: Begun<Batch>): AsyncGenerator<FetchedPage> {
  const { list, range, fullSize, concurrency, signal } = walk;
  if (list.kind === "page") {
    const rows = walk.expectedRows();
    const expectedLast = rows === null ? null : Math.ceil(rows / fullSize);
    const fetch = (page: number): Promise<FetchedPage> => list.fetch({ ...range, page }, signal);
    yield* walkPages({ fetch, from: 2, fullSize, ahead: concurrency, expectedLast, fault: list.fault });
    return;
  }
  const follow = createLinkChain(list);
  for (let { next } = walk.first; next !== null;) {
    const page = await follow(next, signal);
    yield page;
    ({ next } = page);
  }
}
