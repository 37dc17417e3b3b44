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

export class Requests {
  /** Has no trailing slash. */
  readonly baseUrl: string;
  readonly origin: string;
  readonly #isReadOnly: boolean;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #headersWithBody: Readonly<Record<string, string>>;

  /** Throws a TypeError unless `base` is an absolute URL. */
  constructor(base: string, apiKey: string) {
    const { origin, pathname } = new URL(base);
    this.origin = origin;
    this.baseUrl = `${origin}${pathname.replace(/\/+$/, "")}`;
    this.#isReadOnly = isReadOnlyKey(apiKey);
    this.#headers = {
      accept: "application/json",
      authorization: `Basic ${base64(`${apiKey}:`)}`,
      "user-agent": `surveyctl/${VERSION}`,
    };
    this.#headersWithBody = { ...this.#headers, "content-type": "application/json" };
  }

  checkMethod(method: string, url: string): void {
    if (this.#isReadOnly && !isReading(method)) throw new ReadOnlyKeyError({ call: nameCall(method, url) });
  }

  ofRoute({ route, placeholders, parameters, body, signal }: RouteCall): HttpRequest {
    const query = parameters === undefined ? "" : formatQuery(parameters);
    const url = `${this.baseUrl}${routePath(route, placeholders)}${query === "" ? "" : `?${query}`}`;
    return this.#request(route.method, url, body === undefined ? undefined : JSON.stringify(body), signal);
  }

  /** `url` must be absolute. Throws `PagingError` if it leaves the origin. */
  ofUrl(method: string, url: string, body?: string, signal?: AbortSignal): HttpRequest {
    if (!URL.canParse(url) || new URL(url).origin !== this.origin)
      throw new PagingError("refused an address outside the service", { call: nameCall(method, url) });
    return this.#request(method, url, body, signal);
  }

  #request(method: string, url: string, body: string | undefined, signal: AbortSignal | undefined): HttpRequest {
    this.checkMethod(method, url);
    const headers = body === undefined ? this.#headers : this.#headersWithBody;
    return { method, url, headers, ...(body !== undefined && { body }), ...(signal !== undefined && { signal }) };
  }
}
