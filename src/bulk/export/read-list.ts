import { isWholeList } from "../../contract/limits.ts";
import { keepRows, type RowPage } from "../../contract/row-page.ts";
import { PAGINATION_LOOP } from "../../contract/text/link.ts";
import { type FetchedPage, type Range, RecentIds, sameAgain, sortedTimes } from "./lists.ts";
import { FiltersIgnoredError, readInWindows, type WindowsOptions } from "./windows.ts";

export interface ListRequest<Batch> extends WindowsOptions<Batch> {
  readonly range: Range;
  /** Returns the last second of the snapshot. `isWhole` is true if the first page is the only one. */
  readonly fixUntil: (first: FetchedPage, isWhole: boolean) => Promise<number>;
}

/**
 * Yields every row once, in the list's order. Drops rows outside the range, because some services ignore time filters,
 * and throws if that leaves none.
 */
export async function* readList<Batch>(options: ListRequest<Batch>): AsyncGenerator<Batch> {
  const stopping = new AbortController();
  try {
    yield* readFirst({ ...options, signal: AbortSignal.any([options.signal, stopping.signal]) });
  } finally {
    stopping.abort();
  }
}

async function* readFirst<Batch>(options: ListRequest<Batch>): AsyncGenerator<Batch> {
  const { list, range, signal } = options;
  const first = await list.fetch({ ...range, page: null }, signal);
  const isWhole = await isOnlyPage(options, first);
  const until = await options.fixUntil(first, isWhole);
  const count = { came: 0, kept: 0 };
  const take = function* (page: RowPage): Generator<Batch> {
    const kept = inRange(options, until, page);
    count.came += page.rows.length;
    count.kept += kept.rows.length;
    if (kept.rows.length > 0) yield options.toBatch(kept);
  };
  const seen = new RecentIds();
  const once = (page: RowPage): RowPage => keepRows(page, (row) => seen.isNew(options.keys.id(row)));
  yield* isWhole ? take(once(first)) : readOn(options, { first, until, seen, take });
  if (count.came > 0 && count.kept === 0)
    throw list.fault(`none of the ${count.came} rows that the service sent is in the requested time range`);
}

/** Whether the first page is the only one. A numbered list ends with an empty page, so a full page never is. */
async function isOnlyPage<Batch>(
  { list, range, perPage, signal }: ListRequest<Batch>,
  first: FetchedPage,
): Promise<boolean> {
  if (!list.isNumbered) return first.next === null;
  if (first.rows.length === 0 || first.rows.length >= perPage) return first.rows.length === 0;
  const second = await list.fetch({ ...range, page: first.next }, signal);
  return second.rows.length === 0 || (second.text === first.text && isWholeList(first.rows.length, perPage));
}

interface Snapshot<Batch> {
  readonly first: FetchedPage;
  readonly until: number;
  readonly seen: RecentIds;
  readonly take: (page: RowPage) => Generator<Batch>;
}

/** Reads page by page until the rows span more than one second, then in time windows. */
async function* readOn<Batch>(
  options: ListRequest<Batch>,
  { first, until, seen, take }: Snapshot<Batch>,
): AsyncGenerator<Batch> {
  const { list, keys, range } = options;
  const isHonoured = first.rows.every((row) => (keys.at(row) ?? Infinity) >= (range.since ?? -Infinity));
  const start = sortedTimes(first, keys)?.first ?? 0;
  let mayCut = isHonoured && list.hasTimes;
  const pages = readPages(options, first, () => (mayCut ? 1 : options.concurrency));
  let count = 0;
  for await (const page of pages) {
    count += 1;
    yield* take(keepRows(page, (row) => seen.isNew(keys.id(row))));
    const times = sortedTimes(page, keys);
    mayCut &&= times !== null && times.first >= start;
    if (!mayCut || times === null || times.last === start) continue;
    if (times.last > until) return;
    mayCut = false;
    const width = (times.last - start) * Math.ceil(FIRST_WIDTH_PAGES / count);
    const cut = readInWindows(options, { since: times.last, until, seen, width });
    if (yield* yieldUnlessIgnored(options, cut)) return;
  }
}

const FIRST_WIDTH_PAGES = 12;

/** Returns false if the service ignores time ranges, unless a batch has already been yielded. */
async function* yieldUnlessIgnored<Batch>(
  { list }: ListRequest<Batch>,
  batches: AsyncGenerator<Batch>,
): AsyncGenerator<Batch, boolean> {
  let handedOn = 0;
  try {
    for await (const batch of batches) {
      handedOn += 1;
      yield batch;
    }
  } catch (error) {
    if (!(error instanceof FiltersIgnoredError)) throw error;
    if (handedOn > 0) throw list.fault(error.message);
    return false;
  }
  return true;
}

async function* readPages<Batch>(
  options: ListRequest<Batch>,
  first: FetchedPage,
  atOnce: () => number,
): AsyncGenerator<FetchedPage> {
  const { list, range, signal } = options;
  yield first;
  if (list.isNumbered) {
    yield* readNumbers(options, atOnce);
    return;
  }
  const followed = new Set<FetchedPage["next"]>();
  for (let { next, text: before } = first; next !== null;) {
    if (followed.has(next)) throw list.fault(PAGINATION_LOOP, next);
    followed.add(next);
    const page = await list.fetch({ ...range, page: next }, signal);
    if (page.rows.length > 0 && page.text === before) throw list.fault(sameAgain(next), next);
    yield page;
    ({ next, text: before } = page);
  }
}

async function* readNumbers<Batch>(
  { list, range, signal }: ListRequest<Batch>,
  atOnce: () => number,
): AsyncGenerator<FetchedPage> {
  const requests: Promise<FetchedPage>[] = [];
  let before = "";
  for (let number = 2; ; number += 1) {
    while (requests.length < atOnce()) {
      const page = list.fetch({ ...range, page: number + requests.length }, signal);
      page.catch(() => {});
      requests.push(page);
    }
    const page = await requests.shift();
    if (page === undefined || page.rows.length === 0) return;
    if (page.text === before) throw list.fault(sameAgain(number));
    yield page;
    before = page.text;
  }
}

function inRange<Batch>({ range, keys }: ListRequest<Batch>, until: number, page: RowPage): RowPage {
  const since = range.since ?? -Infinity;
  return keepRows(page, (row) => {
    const at = keys.at(row);
    return at === null || (at >= since && Math.floor(at) <= until);
  });
}
