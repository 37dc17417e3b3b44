import { isWholeList, PAGE_DEFAULT, PER_PAGE_DEFAULT } from "../contract/limits.ts";
import type { Route } from "../contract/routes.ts";
import type { Client, Page, Parameters } from "./client.ts";
import { PagingError } from "./errors/call-errors.ts";
import { nameCall } from "./errors/client-error.ts";
import { toNumber } from "./write/evidence.ts";
import { mayNameNext, PAGINATION_LOOP, parseNextLink } from "../contract/text/link.ts";

interface PagedCall {
  readonly route: Route;
  readonly placeholders?: Readonly<Record<string, string>>;
  readonly parameters: Parameters;
  readonly signal?: AbortSignal;
}

/**
 * Yields a list's pages in order. Numbered lists end at an empty page (section 4), because a short page may be followed
 * by others. Throws `PagingError` for a loop.
 */
export async function* listPages(client: Pick<Client, "page" | "baseUrl">, request: PagedCall): AsyncGenerator<Page> {
  const { route, parameters } = request;
  const isNumbered = route.pagination === "page";
  const seen = new Set<string>();
  let next: string | null = null;
  let before = "";
  for (let number = toNumber(parameters["page"]) ?? PAGE_DEFAULT; ; number += 1) {
    const page: Page = await client.page({
      ...request,
      ...(isNumbered && { parameters: { ...parameters, page: number } }),
      ...(next !== null && { next }),
    });
    if (isNumbered && page.rows.length === 0) return;
    if (page.rows.length > 0 && page.text === before) {
      if (isNumbered && isWholeList(page.rows.length, toNumber(parameters["per_page"]) ?? PER_PAGE_DEFAULT)) return;
      const call = nameCall("GET", next ?? `${client.baseUrl}${route.path}.json`);
      throw new PagingError(`the service keeps sending the same page${isNumbered ? ` (page ${number})` : ""}`, {
        call,
      });
    }
    yield page;
    before = page.text;
    if (isNumbered) continue;
    ({ next } = page);
    if (next === null) return;
    if (seen.has(next)) throw new PagingError(PAGINATION_LOOP, { call: nameCall("GET", next) });
    seen.add(next);
  }
}

/**
 * Absolute URL of a cursor list's next page (4.1); null on the last. Throws `PagingError` for an unreadable link,
 * because stopping there would lose rows, and for one to another origin, which must never see the key.
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
