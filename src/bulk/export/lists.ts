/** Lists of the API as functions, so that exports don't depend on the client. */
import type { JsonObject } from "../../contract/json.ts";
import type { RowPage } from "../../contract/row-page.ts";

export interface FetchedPage extends RowPage {
  /** Link to the next page of a cursor list; null on the last page and for numbered lists. */
  readonly next: string | null;
  readonly serverTime: number | null;
  readonly hasAnswers?: boolean;
}

/** Unix seconds, both inclusive; null is open. */
export interface Range {
  readonly since: number | null;
  readonly until: number | null;
}

/** Makes the error for a list that can't be read to its end; `link` is the offending link. */
type ListFault = (what: string, link?: string) => Error;

export const CIRCLE = "the list's links lead in a circle";
export const SAME_AGAIN = "the service keeps sending the same page";
export function sameAgain(page: number): string {
  return `${SAME_AGAIN} (page ${page})`;
}

/** A list with `page` numbers from 1 (specification 4.3, 4.5, 4.6). */
export interface PageList {
  readonly kind: "page";
  fetch(request: Range & { readonly page: number }, signal: AbortSignal): Promise<FetchedPage>;
  readonly fault: ListFault;
}

/** A list whose pages are linked by `next` (4.1, 4.8). */
export interface CursorList {
  readonly kind: "cursor";
  /** False for a list without time filters, which is read sequentially. */
  readonly hasTimes: boolean;
  open(range: Range, signal: AbortSignal): Promise<FetchedPage>;
  follow(next: string, signal: AbortSignal): Promise<FetchedPage>;
  readonly fault: ListFault;
}

export interface RowKeys {
  readonly id: (row: JsonObject) => string;
  /** The time that the list is ordered and filtered by, Unix seconds; null if the row has none. */
  readonly at: (row: JsonObject) => number | null;
}

/**
 * First and last time of a page; null if it is empty, not in time order, or lacks a time. Also null for fractional
 * seconds: requests are bounded by whole seconds and would miss rows in between.
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

/** Remembers the last 10,000 ids or more: when a list shifts while it is read, repeated rows are close together. */
export interface RecentIds {
  isNew(id: string): boolean;
}

export function createRecentIds(): RecentIds {
  // Two sets that take turns: a set slows down if its oldest elements are deleted one by one.
  let older = new Set<string>();
  let newer = new Set<string>();
  return {
    isNew(id) {
      if (newer.has(id) || older.has(id)) return false;
      newer.add(id);
      if (newer.size >= REMEMBERED_ROWS) [older, newer] = [newer, new Set()];
      return true;
    },
  };
}
