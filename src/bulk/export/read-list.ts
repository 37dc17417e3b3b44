/** Every row of a list once, in the list's order: in parallel windows of time where that works, else in sequence. */
import { isWholeList } from "../../contract/limits.ts";
import { keepRows, type RowPage } from "../../contract/row-page.ts";
import {
  CIRCLE,
  createRecentIds,
  SAME_AGAIN,
  sameAgain,
  sortedTimes,
  type FetchedPage,
  type PageList,
  type RecentIds,
  type Range,
} from "./lists.ts";
import { FiltersIgnoredError, readInWindows, type WindowsOptions } from "./windows.ts";

export interface ListReading<Batch> extends WindowsOptions<Batch> {
  /** The range that the user asked for. */
  readonly range: Range;
  /** The last second of the snapshot, Unix seconds; asked once, with the first page and whether the list ends there. */
  readonly fixUntil: (first: FetchedPage, isWhole: boolean) => Promise<number>;
}

/**
 * Ends with the first error of a request; requests in flight then, or no longer of use, are aborted. Rows
 * outside the range, which a service that ignores time filters sends, are left out; when all are, that is a fault.
 */
export async function* readList<Batch>(options: ListReading<Batch>): AsyncGenerator<Batch> {
  const stopping = new AbortController();
  try {
    yield* readFirst({ ...options, signal: AbortSignal.any([options.signal, stopping.signal]) });
  } finally {
    stopping.abort();
  }
}

async function* readFirst<Batch>(options: ListReading<Batch>): AsyncGenerator<Batch> {
  const { list, range, signal } = options;
  const first = await (list.kind === "page" ? list.fetch({ ...range, page: 1 }, signal) : list.open(range, signal));
  const isWhole = await endsWith(options, first);
  const until = await options.fixUntil(first, isWhole);
  const count = { came: 0, kept: 0 };
  const take = function* (page: RowPage): Generator<Batch> {
    const kept = inRange(options, until, page);
    count.came += page.rows.length;
    count.kept += kept.rows.length;
    if (kept.rows.length > 0) yield options.toBatch(kept);
  };
  const seen = createRecentIds();
  const once = (page: RowPage): RowPage => keepRows(page, (row) => seen.isNew(options.keys.id(row)));
  yield* isWhole ? take(once(first)) : readOn(options, { first, until, seen, take });
  if (count.came > 0 && count.kept === 0)
    throw list.fault(`none of the ${count.came} rows that the service sent is in the requested time range`);
}

/**
 * True when the first page is the complete list. After a full page of a numbered list another follows, so nothing is
 * asked.
 */
async function endsWith<Batch>(
  { list, range, perPage, signal }: ListReading<Batch>,
  first: FetchedPage,
): Promise<boolean> {
  if (list.kind === "cursor") return first.next === null;
  if (first.rows.length === 0 || first.rows.length >= perPage) return first.rows.length === 0;
  const second = await list.fetch({ ...range, page: 2 }, signal);
  return second.rows.length === 0 || (second.text === first.text && isWholeList(first.rows.length, perPage));
}

interface Begun<Batch> {
  readonly first: FetchedPage;
  /** The last second of the snapshot. */
  readonly until: number;
  readonly seen: RecentIds;
  /** Those rows of a page that are in the range. */
  readonly take: (page: RowPage) => Generator<Batch>;
}

/** The list as it comes, until its rows have spanned more than a second; from there on in windows. */
async function* readOn<Batch>(
  options: ListReading<Batch>,
  { first, until, seen, take }: Begun<Batch>,
): AsyncGenerator<Batch> {
  const { list, keys, range } = options;
  // A row from before the range shows at once that the service ignores it.
  const isHonoured = first.rows.every((row) => (keys.at(row) ?? Infinity) >= (range.since ?? -Infinity));
  const start = sortedTimes(first, keys)?.first ?? 0;
  let mayCut = isHonoured && (list.kind === "page" || list.hasTimes);
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
    if (yield* isReadThrough(options, cut)) return;
  }
}

/** Pages of the first windows, about. */
const FIRST_WIDTH_PAGES = 12;

/** False when the service ignores time ranges and nothing was handed on. */
async function* isReadThrough<Batch>(
  { list }: ListReading<Batch>,
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

/** Every page from the first on, by links or by numbers. */
async function* readPages<Batch>(
  { list, range, signal }: ListReading<Batch>,
  first: FetchedPage,
  atOnce: () => number,
): AsyncGenerator<FetchedPage> {
  yield first;
  if (list.kind === "page") {
    yield* readNumbers((page) => list.fetch({ ...range, page }, signal), { atOnce, fault: list.fault });
    return;
  }
  const followed = new Set<string>();
  for (let { next, text: before } = first; next !== null;) {
    if (followed.has(next)) throw list.fault(CIRCLE, next);
    followed.add(next);
    const page = await list.follow(next, signal);
    if (page.rows.length > 0 && page.text === before) throw list.fault(SAME_AGAIN, next);
    yield page;
    ({ next, text: before } = page);
  }
}

/** Pages from the second on in order, `atOnce()` of them asked for at once, until one is empty. */
async function* readNumbers(
  fetch: (page: number) => Promise<FetchedPage>,
  { atOnce, fault }: { readonly atOnce: () => number; readonly fault: PageList["fault"] },
): AsyncGenerator<FetchedPage> {
  const asked: Promise<FetchedPage>[] = [];
  let before = "";
  for (let number = 2; ; number += 1) {
    while (asked.length < atOnce()) {
      const page = fetch(number + asked.length);
      // Its error is handled when its turn comes.
      page.catch(() => {});
      asked.push(page);
    }
    const page = await asked.shift();
    if (page === undefined || page.rows.length === 0) return;
    if (page.text === before) throw fault(sameAgain(number));
    yield page;
    before = page.text;
  }
}

/** A service that ignores the range sends more than was asked for. */
function inRange<Batch>({ range, keys }: ListReading<Batch>, until: number, page: RowPage): RowPage {
  const since = range.since ?? -Infinity;
  return keepRows(page, (row) => {
    const at = keys.at(row);
    return at === null || (at >= since && Math.floor(at) <= until);
  });
}
