import type { PagedList, RowKeys } from "../../bulk/export/lists.ts";
import type { Client, Parameters } from "../../client/client.ts";
import { nameCall } from "../../client/errors/client-error.ts";
import { PagingError } from "../../client/errors/call-errors.ts";
import type { JsonObject } from "../../contract/json.ts";
import { PAGE_DEFAULT } from "../../contract/limits.ts";
import { type Route, routePath } from "../../contract/routes.ts";

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

export function pagedList(client: Client, call: ListCall, times: TimeParameters | null): PagedList {
  const { route, parameters } = call;
  const isNumbered = route.pagination === "page";
  return {
    isNumbered,
    hasTimes: times !== null,
    async fetch({ since, until, page }, signal) {
      if (typeof page === "string") return client.page({ ...call, next: page, signal });
      const range = times === null ? {} : bounds(times, parameters, since, until);
      if (!isNumbered) return client.page({ ...call, parameters: { ...parameters, ...range }, signal });
      const number = page ?? PAGE_DEFAULT;
      const found = await client.page({ ...call, parameters: { ...parameters, ...range, page: number }, signal });
      return { ...found, next: number + 1 };
    },
    fault: (what, page) =>
      new PagingError(what, {
        call: nameCall("GET", typeof page === "string" ? page : client.baseUrl + routePath(route, call.placeholders)),
      }),
  };
}

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

/** Identifies rows by their content if they have no id, or an id that lost digits in parsing. */
export function textOf(row: JsonObject, field: string): string {
  const value = row[field];
  if (typeof value === "string") return value;
  return JSON.stringify(Number.isSafeInteger(value) ? value : row);
}

export function timeOf(row: JsonObject, field: string): number | null {
  const value = row[field];
  return typeof value === "number" ? value : null;
}
