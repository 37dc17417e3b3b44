import { isWholeList, PAGE_DEFAULT, PER_PAGE_DEFAULT } from "../contract/limits.ts";
import type { Route } from "../contract/routes.ts";
import type { Client, Page, Parameters } from "./client.ts";
import { PagingError } from "./errors/call-errors.ts";
import { nameCall } from "./errors/client-error.ts";
import { toNumber } from "./write/evidence.ts";
import { mayNameNext, parseNextLink } from "../contract/text/link.ts";

export interface PagedCall {
  readonly route: Route;
  readonly placeholders?: Readonly<Record<string, string>>;
  readonly parameters: Parameters;
  readonly signal?: AbortSignal;
}

/** A list's pages in order, by cursor or by number. A loop is a `PagingError`. */
export function listPages(client: Pick<Client, "page" | "baseUrl">, request: PagedCall): AsyncGenerator<Page> {
  return request.route.pagination === "page" ? numberedPages(client, request) : cursorPages(client, request);
}

const SAME_AGAIN = "the service keeps sending the same page";

async function* cursorPages(client: Pick<Client, "page" | "baseUrl">, request: PagedCall): AsyncGenerator<Page> {
  const seen = new Set<string>();
  let next: string | null = null;
  let before = "";
  do {
    const page: Page = await client.page(next === null ? request : { ...request, next });
    if (next !== null && page.rows.length > 0 && page.text === before)
      throw new PagingError(SAME_AGAIN, { call: nameCall("GET", next) });
    yield page;
    ({ next, text: before } = page);
    if (next !== null && seen.has(next))
      throw new PagingError("the list's links lead in a circle", { call: nameCall("GET", next) });
    if (next !== null) seen.add(next);
  } while (next !== null);
}

/** Ends at an empty page (section 4); a short page may be followed by others. */
async function* numberedPages(client: Pick<Client, "page" | "baseUrl">, request: PagedCall): AsyncGenerator<Page> {
  const { parameters } = request;
  let before = "";
  for (let number = toNumber(parameters["page"]) ?? PAGE_DEFAULT; ; number += 1) {
    const page = await client.page({ ...request, parameters: { ...parameters, page: number } });
    if (page.rows.length === 0) return;
    if (page.text === before) {
      if (isWholeList(page.rows.length, toNumber(parameters["per_page"]) ?? PER_PAGE_DEFAULT)) return;
      const call = nameCall("GET", `${client.baseUrl}${request.route.path}.json`);
      throw new PagingError(`${SAME_AGAIN} (page ${number})`, { call });
    }
    yield page;
    before = page.text;
  }
}

/**
 * Absolute URL of the next page of a cursor list (4.1); null on the last. Throws `PagingError` if the link leaves the
 * base URL's origin, since the key must not, or can't be read, since rows would be lost silently.
 */
export function nextPageUrl(linkHeader: string | undefined, requestUrl: string, origin: string): string | null {
  if (linkHeader === undefined) return null;
  const target = parseNextLink(linkHeader);
  const call = nameCall("GET", requestUrl);
  if (target === null) {
    if (mayNameNext(linkHeader)) throw new PagingError("the link to the next page cannot be read", { call });
    return null;
  }
  if (!URL.canParse(target, requestUrl))
    throw new PagingError("the link to the next page is not a valid URL", { call });
  const next = new URL(target, requestUrl);
  next.hash = "";
  if (next.origin !== origin || next.username !== "" || next.password !== "") {
    throw new PagingError(`refused a link to the next page that leaves the service (${next.protocol}//${next.host})`, {
      call,
    });
  }
  if (next.href === requestUrl)
    throw new PagingError("the link to the next page leads back to the same page", { call });
  return next.href;
}
