/** What an export is given: a list of the API as functions, so that the engine knows no client. */
import type { JsonObject } from "../../contract/json.ts";
import { splitRowTexts } from "../../contract/row-texts.ts";
import type { Limiter } from "./limiter.ts";

/** Rows parsed, and the JSON array that they came in. */
export interface RowPage {
  readonly rows: readonly JsonObject[];
  readonly text: string;
}

export interface FetchedPage extends RowPage {
  /** Where a cursor list goes on; null on its last page, and always for page-numbered lists. */
  readonly next: string | null;
  /** The service's clock, Unix seconds; null when it tells none. */
  readonly serverTime: number | null;
}

/** Unix seconds, inclusive at both ends; null is open. */
export interface Range {
  readonly since: number | null;
  readonly until: number | null;
}

/** Makes the error of a list that cannot be walked to its end; `what` says why, `link` which link showed it. */
type ListFault = (what: string, link?: string) => Error;

/** A list with `page` numbers from 1 (specification 4.3, 4.5, 4.6). */
export interface PageList {
  readonly kind: "page";
  fetch(request: Range & { readonly page: number }, signal: AbortSignal): Promise<FetchedPage>;
  readonly fault: ListFault;
}

/** A list that is read from its first page on by following `next` (4.1, 4.8). */
export interface CursorList {
  readonly kind: "cursor";
  /** False for a list without time filters: it is read in one walk. */
  readonly hasTimes: boolean;
  open(range: Range, signal: AbortSignal): Promise<FetchedPage>;
  follow(next: string, signal: AbortSignal): Promise<FetchedPage>;
  readonly fault: ListFault;
}

/** How a row is told from others and where it stands in time. */
export interface RowKeys {
  readonly id: (row: JsonObject) => string;
  /** The time that the list is ordered and filtered by, Unix seconds; null when the row has none. */
  readonly at: (row: JsonObject) => number | null;
}

/** The rows of a page that `keep` wants; their own texts are only cut out when somebody asks for them. */
export function keepRows(page: RowPage, keep: (row: JsonObject) => boolean): RowPage {
  const kept = page.rows.map(keep);
  return kept.includes(false) ? new KeptRows(page, kept) : page;
}

/**
 * A class for its getter: one in an object literal would be a closure of its own in a hidden class of its own, and those
 * live, with the page that they hold, until the next full garbage collection.
 */
class KeptRows implements RowPage {
  readonly rows: readonly JsonObject[];
  readonly #page: RowPage;
  readonly #kept: readonly boolean[];

  constructor(page: RowPage, kept: readonly boolean[]) {
    this.rows = page.rows.filter((_, index) => kept[index]);
    this.#page = page;
    this.#kept = kept;
  }

  get text(): string {
    const texts = splitRowTexts(this.#page.text).filter((_, index) => this.#kept[index]);
    return `[${texts.join(",")}]`;
  }
}

/** The same list with at most so many requests at once as the limiter lets through. */
export function limitList(list: PageList | CursorList, limit: Limiter): PageList | CursorList {
  if (list.kind === "page") return { ...list, fetch: (request, signal) => limit(() => list.fetch(request, signal)) };
  return {
    ...list,
    open: (range, signal) => limit(() => list.open(range, signal)),
    follow: (next, signal) => limit(() => list.follow(next, signal)),
  };
}
