/** Rows that page numbers alone can tell apart: a second with more rows than a page holds, or rows out of time order. */
import { keepRows, type RowKeys, type RowPage } from "./lists.ts";
import { walkPages, type PageWalk } from "./page-walk.ts";
import { createRecentIds, REMEMBERED_ROWS, type RecentIds } from "./recent-ids.ts";
import { sortedTimes } from "./sorted-times.ts";

/** Of 100 rows each: so many ids are held in memory while the stretch is read. */
const READ_AGAIN_PAGES = 500;
const READINGS_MAX = 6;

export interface BusyStretch {
  readonly walk: PageWalk;
  readonly keys: RowKeys;
  /** Its last second; a service that minds only where a range begins sends later rows as well. */
  readonly until: number;
  /** Ids of rows that were handed over before. */
  readonly before: Iterable<string>;
  readonly emit: (page: RowPage) => Promise<void>;
}

/**
 * Hands over the rows of a stretch whose ids were not seen before. A row that is deleted meanwhile moves the
 * later ones down, onto a page that was read already; so a stretch of several pages is read until a reading brings
 * nothing new. More than 500 pages are read once.
 */
export async function readBusyStretch(stretch: BusyStretch): Promise<void> {
  const seen = createRecentIds(Math.max(REMEMBERED_ROWS, READ_AGAIN_PAGES * stretch.walk.fullSize), stretch.before);
  for (let reading = 1; reading <= READINGS_MAX; reading += 1) {
    const { pages, found } = await readOnce(stretch, seen);
    if (pages === 1 || pages > READ_AGAIN_PAGES || (reading > 1 && found === 0)) return;
  }
}

async function readOnce(
  { walk, keys, until, emit }: BusyStretch,
  seen: RecentIds,
): Promise<{ readonly pages: number; readonly found: number }> {
  let pages = 0;
  let found = 0;
  for await (const page of walkPages(walk)) {
    pages += 1;
    if ((sortedTimes(page, keys)?.first ?? until) > until) break;
    const fresh = keepRows(page, (row) => (keys.at(row) ?? until) <= until && seen.isNew(keys.id(row)));
    found += fresh.rows.length;
    await emit(fresh);
  }
  return { pages, found };
}
