/** Rows that page numbers alone can tell apart: a second with more rows than a page holds, or rows out of time order. */
import { keepRows, type FetchedPage, type RowKeys, type RowPage } from "./lists.ts";
import { walkPages, type PageWalk } from "./page-walk.ts";
import type { RecentIds } from "./recent-ids.ts";

const READ_AGAIN_PAGES = 50;
const READINGS_MAX = 6;

export interface BusyStretch {
  readonly walk: PageWalk;
  readonly keys: RowKeys;
  /** Remembers more rows than `READ_AGAIN_PAGES` pages hold. */
  readonly seen: RecentIds;
  readonly emit: (page: RowPage) => Promise<void>;
}

/**
 * Hands over the rows of a stretch whose ids were not seen before. A row that is deleted meanwhile moves the
 * later ones down, onto a page that was read already; so a stretch of several pages is read until a reading brings
 * nothing new. More than 50 pages are read once.
 */
export async function readBusyStretch(stretch: BusyStretch): Promise<void> {
  for (let reading = 1; reading <= READINGS_MAX; reading += 1) {
    const { pages, found } = await readOnce(stretch);
    if (pages === 1 || pages > READ_AGAIN_PAGES || (reading > 1 && found === 0)) return;
  }
}

async function readOnce({ walk, keys, seen, emit }: BusyStretch): Promise<{ readonly pages: number; readonly found: number }> {
  let pages = 0;
  let found = 0;
  for await (const page of walkPages(walk)) {
    pages += 1;
    const fresh = unseen(page, keys, seen);
    found += fresh.rows.length;
    await emit(fresh);
  }
  return { pages, found };
}

function unseen(page: FetchedPage, keys: RowKeys, seen: RecentIds): RowPage {
  return keepRows(page, (row) => seen.isNew(keys.id(row)));
}
