import { formatQuery } from "../contract/brackets.ts";
import type { HttpRequest } from "../contract/http.ts";
import { isReading, isReadOnlyKey } from "../contract/key-access.ts";
import type { JsonObject } from "../contract/json.ts";
import { routePath, type Route } from "../contract/routes.ts";
import { VERSION } from "../runtime/version.ts";
import type { Parameters } from "./client.ts";
import { PagingError, ReadOnlyKeyError } from "./errors/call-errors.ts";
import { nameCall } from "./errors/client-error.ts";
import { base64 } from "./trace/redact.ts";

export interface RouteCall {
  readonly route: Route;
  readonly placeholders?: Readonly<Record<string, string>>;
  readonly parameters?: Parameters;
  readonly body?: JsonObject;
  readonly signal?: AbortSignal | undefined;
}

/** Turns calls into requests to one service with one key, each after `checkMethod`. */
export interface Requests {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly origin: string;
  /** Throws `ReadOnlyKeyError` if the method writes and the key is known to be read-only. */
  checkMethod(method: string, url: string): void;
  ofRoute(call: RouteCall): HttpRequest;
  /** `url` is absolute; throws `PagingError` if it leaves the origin. */
  ofUrl(method: string, url: string, body?: string, signal?: AbortSignal): HttpRequest;
}

/** `base` is an absolute URL; throws a TypeError otherwise. */
export function createRequests(base: string, apiKey: string): Requests {
  const { origin, pathname } = new URL(base);
  const baseUrl = `${origin}${pathname.replace(/\/+$/, "")}`;
  const checkMethod: Requests["checkMethod"] = (method, url) => {
    if (!isReading(method) && isReadOnlyKey(apiKey)) throw new ReadOnlyKeyError({ call: nameCall(method, url) });
  };
  const plain = {
    accept: "application/json",
    authorization: `Basic ${base64(`${apiKey}:`)}`,
    "user-agent": `surveyctl/${VERSION}`,
  };
  const withBody = { ...plain, "content-type": "application/json" };
  const request = (
    method: string,
    url: string,
    body: string | undefined,
    signal: AbortSignal | undefined,
  ): HttpRequest => {
    checkMethod(method, url);
    return {
      method,
      url,
      headers: body === undefined ? plain : withBody,
      ...(body !== undefined && { body }),
      ...(signal !== undefined && { signal }),
    };
  };
  return {
    baseUrl,
    origin,
    checkMethod,
    ofRoute: ({ route, placeholders, parameters, body, signal }) => {
      const query = parameters === undefined ? "" : formatQuery(parameters);
      const url = `${baseUrl}${routePath(route, placeholders)}${query === "" ? "" : `?${query}`}`;
      return request(route.method, url, body === undefined ? undefined : JSON.stringify(body), signal);
    },
    ofUrl: (method, url, body, signal) => {
      if (!URL.canParse(url) || new URL(url).origin !== origin) {
        throw new PagingError("refused an address outside the service", { call: nameCall(method, url) });
      }
      return request(method, url, body, signal);
    },
  };
}
