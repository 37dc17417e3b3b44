/** The API's lists as functions, so that exports don't depend on the client. */
import type { JsonObject } from "../../contract/json.ts";
import type { RowPage } from "../../contract/row-page.ts";

/** A page's number or link. Null means the first page or, as the next page, the end of a linked list. */
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
  /** False if the list can't be filtered by time, so it must be read sequentially. */
  readonly hasTimes: boolean;
  /** A page link already includes the range. */
  fetch(request: Range & { readonly page: PageName }, signal: AbortSignal): Promise<FetchedPage>;
  /** Creates the error to throw if the list can't be read to its end. */
  readonly fault: (what: string, page?: PageName) => Error;
}

export interface RowKeys {
  readonly id: (row: JsonObject) => string;
  /** The time by which the list is sorted and filtered, in Unix seconds; null if the row has none. */
  readonly at: (row: JsonObject) => number | null;
}

/**
 * First and last time of a page. Null if the page is empty, isn't sorted by time, or has a row without a time. Also
 * null for fractional seconds: requests are bounded by whole seconds and would miss rows in between.
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

/** Remembers at least the last 10,000 ids. If a list shifts during the export, repeated rows are close together. */
export class RecentIds {
  // Alternates between two sets, because deleting a set's oldest elements one by one makes it slow.
  #older = new Set<string>();
  #newer = new Set<string>();

  isNew(id: string): boolean {
    if (this.#newer.has(id) || this.#older.has(id)) return false;
    this.#newer.add(id);
    if (this.#newer.size >= REMEMBERED_ROWS) [this.#older, this.#newer] = [this.#newer, new Set()];
    return true;
  }
}
