/** A list of the API as functions: the engine of exports does not know the client. */
import type { JsonObject } from "../../contract/json.ts";
import type { RowPage } from "../../contract/row-page.ts";

export interface FetchedPage extends RowPage {
  /** The link to the next page of a cursor list; null on its last page, and always for numbered lists. */
  readonly next: string | null;
  /** The service's clock, Unix seconds; null when it sends none. */
  readonly serverTime: number | null;
  /** True when the service says that responses have additional answers. */
  readonly hasAnswers?: boolean;
}

/** Unix seconds, inclusive at both ends; null is open. */
export interface Range {
  readonly since: number | null;
  readonly until: number | null;
}

/** Makes the error of a list that cannot be read to its end; `what` is the reason, `link` the link that showed it. */
type ListFault = (what: string, link?: string) => Error;

/** The reason why a list cannot be read to its end. */
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

/** A list that is read from its first page on by following `next` (4.1, 4.8). */
export interface CursorList {
  readonly kind: "cursor";
  /** False for a list without time filters: it is read in sequence. */
  readonly hasTimes: boolean;
  open(range: Range, signal: AbortSignal): Promise<FetchedPage>;
  follow(next: string, signal: AbortSignal): Promise<FetchedPage>;
  readonly fault: ListFault;
}

/** The fields that identify a row, and its time. */
export interface RowKeys {
  readonly id: (row: JsonObject) => string;
  /** The time that the list is ordered and filtered by, Unix seconds; null when the row has none. */
  readonly at: (row: JsonObject) => number | null;
}

/**
 * First and last time of a page in time order; null when it is empty, out of order or lacks a time. Also null for parts
 * of a second: the bounds of a request are whole ones, and a row between two of them would be lost.
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

/** A list may shift by so many rows while it is read. */
const REMEMBERED_ROWS = 10_000;

/** Remembers the last ids that it was asked about: rows that a shifting list shows twice are close together. */
export interface RecentIds {
  /** True for a new id; it is remembered from then on, for at least 10,000 more ids. */
  isNew(id: string): boolean;
}

export function createRecentIds(): RecentIds {
  // Two sets instead of one from which the oldest are deleted: a set that is emptied from its front becomes slow.
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
