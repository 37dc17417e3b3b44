import { PAGE_DEFAULT, PER_PAGE_DEFAULT } from "../contract/limits.ts";
import type { Route } from "../contract/routes.ts";
import type { Client, Page, Parameters } from "./client.ts";
import { PagingError } from "./errors/paging-error.ts";
import { nameCall } from "./errors/client-error.ts";
import { toNumber } from "./write/evidence.ts";

export interface ListRequest {
  readonly route: Route;
  readonly placeholders?: Readonly<Record<string, string>>;
  readonly parameters: Parameters;
  readonly signal?: AbortSignal;
}

/** A list's pages in order, by whichever way its endpoint turns pages. Ends by itself; a loop is a `PagingError`. */
export function listPages(client: Pick<Client, "page" | "baseUrl">, request: ListRequest): AsyncGenerator<Page> {
  return request.route.pagination === "page" ? numberedPages(client, request) : cursorPages(client, request);
}

async function* cursorPages(client: Pick<Client, "page" | "baseUrl">, request: ListRequest): AsyncGenerator<Page> {
  const seen = new Set<string>();
  let next: string | null = null;
  do {
    const page: Page = await client.page(next === null ? request : { ...request, next });
    yield page;
    next = page.next;
    if (next !== null && seen.has(next))
      throw new PagingError("the list's links lead in a circle", { call: nameCall("GET", next) });
    if (next !== null) seen.add(next);
  } while (next !== null);
}

async function* numberedPages(client: Pick<Client, "page" | "baseUrl">, request: ListRequest): AsyncGenerator<Page> {
  const { parameters } = request;
  let number = toNumber(parameters["page"]) ?? PAGE_DEFAULT;
  let size = toNumber(parameters["per_page"]) ?? PER_PAGE_DEFAULT;
  let before = "";
  for (;;) {
    const page = await client.page({ ...request, parameters: { ...parameters, page: number } });
    if (page.rows.length > 0 && page.text === before) {
      const call = nameCall("GET", `${client.baseUrl}${request.route.path}.json`);
      throw new PagingError(`the service sends the same page again and again (page ${number})`, { call });
    }
    if (page.rows.length > 0) yield page;
    if (isLastPage(page.rows.length, size, before === "")) return;
    if (page.rows.length < size) size = page.rows.length;
    before = page.text;
    number += 1;
  }
}

/**
 * A short page ends the list. Only a first page of at least the default size may be short because the service
 * allows fewer rows a page than were asked for: one more request tells.
 */
function isLastPage(rows: number, perPage: number, first: boolean): boolean {
  if (rows >= perPage) return false;
  return !first || rows < PER_PAGE_DEFAULT;
}
