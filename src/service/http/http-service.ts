import type { HttpRequest, HttpResponse, PathRequest } from "../../contract/http.ts";
import type { JsonObject } from "../../contract/json.ts";
import { isReading, KEY_ACCESS_HEADER, OPERATIONS_PATH } from "../../contract/key-access.ts";
import { toOpenApi } from "../../contract/openapi.ts";
import type { Channel } from "../../contract/routes.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import { VERSION } from "../../runtime/version.ts";
import type { Store } from "../domain/ports.ts";
import { ProjectRemovedError } from "../sql/project-states.ts";
import { AccessLog, maskPath } from "./monitoring/access-log.ts";
import { administer, type Administration, ForbiddenError, findOperation } from "./administration.ts";
import { type Caller, type KeyRing, unauthorized } from "./authentication.ts";
import { BODY_MAX, ClientGoneError, tooLarge } from "./bodies.ts";
import { addressGroup, TrustedProxies } from "./client-address.ts";
import { HANDLERS } from "./handlers.ts";
import { acceptsJson, checkBodyHead, refuseCrossSite, refuseWrite } from "./head.ts";
import { type Listener, OperatorPages } from "./monitoring/health-and-metrics.ts";
import { parseBody, parseJsonBody, parseQuery } from "./parameters.ts";
import { type RateLimit, RateLimiter } from "./rate-limit.ts";
import { completeResponse, envelope, errorReply, HttpError, jsonReply } from "./replies.ts";
import { readTraceId, RequestIds } from "./monitoring/request-ids.ts";
import { findRoute, type Found, type Match, parseTarget, repairLink, type Target } from "./router.ts";

export interface HttpServiceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly rateLimit: RateLimit | null;
  /** The public URL without a trailing slash; null uses the URL of each request. */
  readonly publicUrl: string | null;
  /** `dueAt` is a survey's due time in Unix seconds; the default is now. */
  readonly wake: (dueAt?: number) => void;
  readonly outboxChannels: readonly Channel[];
  readonly moreMetrics: () => Promise<readonly string[]>;
  readonly metricsToken?: string | null;
  readonly trustedProxies?: readonly string[] | null;
  readonly isReady: () => boolean;
  readonly keys: KeyRing;
  readonly administration: () => Promise<Administration>;
  readonly handlers: readonly PathHandler[];
}

interface ServerRequest extends Omit<HttpRequest, "body"> {
  readonly body?: HttpRequest["body"] | (() => Promise<Uint8Array>);
  readonly from?: string;
}

export interface PathHandler {
  readonly name: string;
  /** Returns null if the path belongs to another handler. */
  readonly handle: (request: PathRequest) => Promise<HttpResponse | null> | null;
}

export interface HttpHandler {
  readonly handle: (request: ServerRequest) => Promise<HttpResponse>;
  /** Answers a request that couldn't be parsed, with an id and a log line. */
  readonly refuse: (error: HttpError, method: string) => HttpResponse;
}

interface Progress {
  readonly requestId: string;
  readonly traceId: string | null;
  route: string | null;
  /** The endpoint's template; if null, the log shows the request's path masked. */
  path: string | null;
  project: string | null;
}

/** Responses contain personal data, so they must never be cached, and browsers must not guess their type. */
const PRIVATE = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

export class HttpService {
  readonly #options: HttpServiceOptions;
  readonly #requests: RateLimiter;
  readonly #accessLog: AccessLog;
  readonly #ids: RequestIds;
  readonly #proxies: TrustedProxies;
  readonly #operatorPages: OperatorPages;
  #date = { second: 0, text: "" };

  constructor(options: HttpServiceOptions) {
    const { clock, log, store, random, rateLimit, trustedProxies = null, publicUrl, moreMetrics } = options;
    this.#options = options;
    this.#requests = new RateLimiter(rateLimit, clock);
    this.#accessLog = new AccessLog(log, clock, store.about.engine);
    this.#ids = new RequestIds(random);
    this.#proxies = new TrustedProxies(trustedProxies, publicUrl);
    const metrics = async (): Promise<string> =>
      [...this.#accessLog.metrics(), ...(await moreMetrics()), ""].join("\n");
    this.#operatorPages = new OperatorPages({ ...options, metrics });
  }

  /** For a caller in this process (`local`), list links use the request's own address instead of the public URL. */
  async handle(request: ServerRequest, listener: Listener = "main"): Promise<HttpResponse> {
    const startedMs = this.#options.clock.monotonic();
    this.#accessLog.begin();
    try {
      const { method, headers } = request;
      const target = repairLink(parseTarget(request.url));
      const [requestId, traceId] = [this.#ids.next(headers), readTraceId(headers)];
      const progress: Progress = { requestId, traceId, route: null, path: null, project: null };
      const reply = await this.#settle(() => this.#answer(request, target, progress, listener), progress);
      const { route, project, path } = progress;
      const logged = path ?? maskPath(target.path);
      const { status } = reply;
      this.#accessLog.add({ requestId, traceId, method, path: logged, route, project, status, startedMs });
      return completeResponse(reply, this.#commonHeaders(requestId), method === "HEAD");
    } finally {
      this.#accessLog.end();
    }
  }

  refuse(error: HttpError, method: string): HttpResponse {
    const requestId = this.#ids.next();
    const { status } = error;
    const startedMs = this.#options.clock.monotonic();
    this.#accessLog.add({ requestId, traceId: null, method, path: "*", route: null, project: null, status, startedMs });
    return completeResponse(errorReply(error), this.#commonHeaders(requestId), method === "HEAD");
  }

  async #settle(work: () => Promise<HttpResponse>, { requestId, traceId }: Progress): Promise<HttpResponse> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ClientGoneError) throw error;
      const reply = errorReply(error);
      if (reply !== null) return reply;
      this.#options.log.error("fault", {
        request_id: requestId,
        ...(traceId === null ? {} : { trace_id: traceId }),
        error: error instanceof Error ? (error.stack ?? error.message) : "not an Error",
      });
      return envelope(500);
    }
  }

  async #answer(request: ServerRequest, target: Target, progress: Progress, listener: Listener): Promise<HttpResponse> {
    const { path } = target;
    if (this.#operatorPages.has(path)) {
      progress.route = path.slice(1);
      return this.#operatorPages.show(path, request, listener);
    }
    if (listener === "metrics") throw new HttpError(404);
    if (path === "/openapi.json") {
      progress.route = "openapi";
      const isRead = request.method === "GET" || request.method === "HEAD";
      if (!isRead) throw new HttpError(405, undefined, { allow: "GET, HEAD" });
      const serverUrl = this.#options.publicUrl ?? target.origin;
      const operations = (await this.#options.administration()).list();
      return jsonReply(200, toOpenApi({ version: VERSION, serverUrl, operations }));
    }
    const address = this.#proxies.clientAddress(request);
    const client = addressGroup(address ?? "");
    const known = request.from === undefined || client === request.from ? request : { ...request, from: client };
    try {
      const shown = await this.#askHandlers(known, target, progress);
      if (shown !== null) return shown;
      const operation = findOperation(path);
      return operation === null
        ? await this.#callApi(known, target, progress, listener)
        : await this.#callOperation(known, operation, progress);
    } catch (given) {
      // `KeyRing` can remember a removed project's key for a moment, so this responds as to an unknown key.
      const error = given instanceof ProjectRemovedError ? unauthorized() : given;
      const isKey = error instanceof HttpError && error.status === 401;
      if (isKey || error instanceof ForbiddenError) this.#accessLog.addRefusal(isKey ? "key" : "access", address);
      throw error;
    }
  }

  #askHandlers(request: ServerRequest, target: Target, progress: Progress): Promise<HttpResponse | null> | null {
    const { method, headers, from = "" } = request;
    const body = async (): Promise<Uint8Array> => {
      const whole = await readBody(request);
      return typeof whole === "string" ? Buffer.from(whole) : whole;
    };
    const asked: PathRequest = { ...target, method, headers, from, body };
    for (const { name, handle } of this.#options.handlers) {
      const answered = handle(asked);
      if (answered === null) continue;
      progress.route = name;
      return answered;
    }
    return null;
  }

  async #callOperation(request: ServerRequest, name: string, progress: Progress): Promise<HttpResponse> {
    const { administration, wake } = this.#options;
    const { method, headers } = request;
    progress.route = name === "" ? "listOperations" : "callOperation";
    refuseCrossSite(method, headers);
    const caller = await this.#identify(request, progress);
    const input = async (): Promise<JsonObject> => {
      checkBodyHead(headers);
      return parseJsonBody(await readBody(request));
    };
    const open = async (): Promise<Administration> => {
      const opened = await administration();
      // An unknown name could be anything the caller typed, so it isn't logged.
      if (opened.has(name)) progress.path = `${OPERATIONS_PATH}/${name}`;
      return opened;
    };
    const reply = await administer({ method, name, caller, input }, open);
    if (name !== "") wake();
    return reply;
  }

  async #callApi(
    request: ServerRequest,
    target: Target,
    progress: Progress,
    listener: Listener,
  ): Promise<HttpResponse> {
    const { store, keys, publicUrl, wake, outboxChannels } = this.#options;
    const { method, headers, from = "" } = request;
    const found = findRoute(method, target.path);
    const isServed = found !== null && "route" in found && (found.hasSuffix || acceptsJson(headers.accept));
    // Read-only keys get 403 for every write, even to unknown paths.
    if (found !== null && !isServed && !isReading(method) && headers.authorization !== undefined)
      refuseWrite(method, (await keys.find(headers.authorization, from))?.access ?? null);
    const { route, placeholders, unstripped, name } = requireMatch(found);
    progress.route = name;
    progress.path = route.path;
    if (!isServed) throw new HttpError(406, "Not Acceptable: only application/json is served");
    refuseCrossSite(method, headers);
    const { project, access, actor } = await this.#identify(request, progress);
    refuseWrite(method, access);
    const query = parseQuery(target.query, route);
    const parameters = hasBody(request) ? { ...query, ...(await readParameters(request, route)) } : query;
    const appUrl = publicUrl ?? target.origin;
    const reply = await HANDLERS[name]({
      store,
      project,
      actor,
      route,
      placeholders,
      unstripped,
      parameters,
      address: (listener === "local" ? target.origin : appUrl) + target.path,
      links: { permalink: (token) => `${appUrl}/r/${token}` },
      wake,
      outboxChannels,
    });
    return { ...reply, headers: { ...reply.headers, [KEY_ACCESS_HEADER]: access } };
  }

  async #identify({ headers, from = "" }: ServerRequest, progress: Progress): Promise<Caller> {
    const caller = await this.#options.keys.identify(headers.authorization, from);
    progress.project = caller.project.name;
    this.#requests.admit(caller.keyHash);
    return caller;
  }

  #commonHeaders(requestId: string): Readonly<Record<string, string>> {
    const second = Math.floor(this.#options.clock.now() / 1000);
    if (second !== this.#date.second) this.#date = { second, text: new Date(second * 1000).toUTCString() };
    return { ...PRIVATE, date: this.#date.text, "x-request-id": requestId };
  }
}

/** Ignores bodies of GET requests, because some clients send `{}` or a content type with them. */
function hasBody({ method, body }: ServerRequest): boolean {
  return method !== "GET" && method !== "HEAD" && body !== undefined && (typeof body === "function" || body.length > 0);
}

async function readBody({ body = "" }: ServerRequest): Promise<string | Uint8Array> {
  const whole = typeof body === "function" ? await body() : body;
  if (Buffer.byteLength(whole) > BODY_MAX) throw tooLarge();
  return whole;
}

async function readParameters(request: ServerRequest, route: Match["route"]): Promise<JsonObject> {
  checkBodyHead(request.headers);
  return parseBody(await readBody(request), request.headers["content-type"], route);
}

function requireMatch(found: Found): Match {
  if (found === null) throw new HttpError(404);
  if ("allow" in found) throw new HttpError(405, undefined, { allow: found.allow });
  return found;
}
