/** The API's lists as functions, so that exports don't depend on the client. */
import type { JsonObject } from "../../contract/json.ts";
import type { RowPage } from "../../contract/row-page.ts";

/** A page number or link. Null names the first page, or means that no page follows. */
export type PageName = number | string | null;

export interface FetchedPage extends RowPage {
  readonly next: PageName;
  readonly serverTime: number | null;
  readonly hasAnswers?: boolean;
}

/** Unix seconds, both inclusive. Null means unbounded. */
export interface Range {
  readonly since: number | null;
  readonly until: number | null;
}

export function sameAgain(page: PageName): string {
  return `the service keeps sending the same page${typeof page === "number" ? ` (page ${page})` : ""}`;
}

export interface PagedList {
  /** True if pages are numbered from 1 and end with an empty one (4.3, 4.5, 4.6); false if linked (4.1, 4.8). */
  readonly isNumbered: boolean;
  /** False if the API can't filter the list by time. */
  readonly hasTimes: boolean;
  /** A page link already includes the range. */
  fetch(request: Range & { readonly page: PageName }, signal: AbortSignal): Promise<FetchedPage>;
  readonly fault: (what: string, page?: PageName) => Error;
}

export interface RowKeys {
  readonly id: (row: JsonObject) => string;
  /** Unix seconds by which the list is sorted and filtered; null if the row has no time. */
  readonly at: (row: JsonObject) => number | null;
}

/**
 * Times of the first and last row. Null if the page is empty, isn't sorted, or has a row without a time in whole
 * seconds.
 */
export function sortedTimes({ rows }: RowPage, { at: timeOf }: RowKeys): { first: number; last: number } | null {
  let first: number | null = null;
  let last = -Infinity;
  for (const row of rows) {
    const at = timeOf(row);
    if (at === null || at < last || !Number.isInteger(at)) return null;
    first ??= at;
    last = at;
  }
  return first === null ? null : { first, last };
}

const REMEMBERED_ROWS = 10_000;

/**
 * Remembers at least the last 10,000 ids. That is enough, because if a list shifts during an export, rows repeat close
 * together.
 */
export class RecentIds {
  // Two sets, because deleting a set's oldest elements one by one is slow.
  #older = new Set<string>();
  #newer = new Set<string>();

  isNew(id: string): boolean {
    if (this.#newer.has(id) || this.#older.has(id)) return false;
    this.#newer.add(id);
    if (this.#newer.size >= REMEMBERED_ROWS) [this.#older, this.#newer] = [this.#newer, new Set()];
    return true;
  }
}
