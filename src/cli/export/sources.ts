import type { CursorList, FetchedPage, PageList, RowKeys } from "../../bulk/export/lists.ts";
import type { Client, Parameters } from "../../client/client.ts";
import { nameCall } from "../../client/errors/client-error.ts";
import { PagingError } from "../../client/errors/call-errors.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Route } from "../../contract/routes.ts";

export interface TimeParameters {
  readonly since: string;
  readonly until: string;
}

export const CREATED: TimeParameters = { since: "since", until: "until" };
export const UPDATED: TimeParameters = { since: "updated_since", until: "updated_until" };

export interface ListCall {
  readonly route: Route;
  readonly placeholders?: Readonly<Record<string, string>>;
  readonly parameters: Parameters;
}

export function pageList(client: Client, { route, parameters }: ListCall, times: TimeParameters): PageList {
  return {
    kind: "page",
    fetch: ({ since, until, page }, signal): Promise<FetchedPage> =>
      client.page({ route, parameters: { ...parameters, ...bounds(times, parameters, since, until), page }, signal }),
    fault: (what) => new PagingError(what, { call: nameCall("GET", `${client.baseUrl}${route.path}.json`) }),
  };
}

export function cursorList(client: Client, call: ListCall, times: TimeParameters | null): CursorList {
  return {
    kind: "cursor",
    hasTimes: times !== null,
    open: ({ since, until }, signal): Promise<FetchedPage> => {
      const range = times === null ? {} : bounds(times, call.parameters, since, until);
      return client.page({ ...call, parameters: { ...call.parameters, ...range }, signal });
    },
    follow: (next, signal): Promise<FetchedPage> => client.page({ ...call, next, signal }),
    fault: (what, link = client.baseUrl) => new PagingError(what, { call: nameCall("GET", link) }),
  };
}

/** Combines them with the user's bounds. */
function bounds(times: TimeParameters, user: Parameters, since: number | null, until: number | null): Parameters {
  const sinces = [since, user[times.since]].filter((value) => typeof value === "number");
  const untils = [until, user[times.until]].filter((value) => typeof value === "number");
  return {
    [times.since]: sinces.length === 0 ? null : Math.floor(Math.max(...sinces)),
    [times.until]: untils.length === 0 ? null : Math.min(...untils),
  };
}

export function keysOf(idField: string, timeField: string): RowKeys {
  return { id: (row) => textOf(row, idField), at: (row) => timeOf(row, timeField) };
}

/** Rows without an id, or with one that lost digits in parsing, are identified by their content. */
export function textOf(row: JsonObject, field: string): string {
  const value = row[field];
  if (typeof value === "string") return value;
  return JSON.stringify(Number.isSafeInteger(value) ? value : row);
}

export function timeOf(row: JsonObject, field: string): number | null {
  const value = row[field];
  return typeof value === "number" ? value : null;
}
