/** `page_info`: the domain's position and, behind a dot, the filters, so that a cursor taken out of its URL still means the same list. */
import { formatQuery } from "../../contract/brackets.ts";
import type { JsonObject } from "../../contract/json.ts";
import { formatNextLink } from "../../contract/link.ts";
import type { Route } from "../../contract/routes.ts";
import { parseQuery } from "./parameters.ts";

/** The parameters with those that the cursor carries below them; `page_info` is then the bare position. */
export function withCursorFilters(parameters: JsonObject, route: Route): JsonObject {
  const cursor = parameters.page_info;
  if (typeof cursor !== "string") return parameters;
  const dotAt = cursor.indexOf(".");
  if (dotAt < 0) return parameters;
  const filters = Buffer.from(cursor.slice(dotAt + 1), "base64url").toString();
  return { ...parseQuery(filters, route), ...parameters, page_info: cursor.slice(0, dotAt) };
}

/** The `Link` header of a page that another one follows; `address` is where the list was asked for, without query. */
export function nextLink(
  address: string,
  route: Route,
  parameters: JsonObject,
  perPage: number,
  position: string,
): string {
  const known = route.parameters
    .map(({ name }) => name)
    .filter((name) => name !== "per_page" && Object.hasOwn(parameters, name));
  const filters = { per_page: perPage, ...Object.fromEntries(known.map((name) => [name, parameters[name]])) };
  const pageInfo = `${position}.${Buffer.from(formatQuery(filters)).toString("base64url")}`;
  return formatNextLink(`${address}?${formatQuery({ page_info: pageInfo, ...filters })}`);
}
