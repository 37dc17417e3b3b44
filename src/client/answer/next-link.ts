import { parseNextLink } from "../../contract/link.ts";
import { nameCall } from "../errors/client-error.ts";
import { PagingError } from "../errors/paging-error.ts";

/**
 * The absolute URL of the next page of a cursor list, section 4.1; null on the last. Relative targets resolve against
 * the request. Throws `PagingError` when it leaves the origin of the base URL: credentials go nowhere else.
 */
export function nextPageUrl(linkHeader: string | undefined, requestUrl: string, origin: string): string | null {
  const target = linkHeader === undefined ? null : parseNextLink(linkHeader);
  if (target === null) return null;
  const call = nameCall("GET", requestUrl);
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
