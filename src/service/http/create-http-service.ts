/** Routes, credentials, limits, parameters and replies: from an HTTP request to its response, without sockets. */
import type { HttpRequest, HttpResponse } from "../../contract/http.ts";
import type { JsonObject } from "../../contract/json.ts";
import { isReading, KEY_ACCESS_HEADER } from "../../contract/key-access.ts";
import { OPERATIONS_PATH } from "../../contract/key-access.ts";
import type { Channel } from "../../contract/routes.ts";
import { toOpenApi } from "../../contract/openapi.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import { VERSION } from "../../runtime/version.ts";
import type { Store } from "../domain/ports.ts";
import { administer, type Administration, ForbiddenError, operationIn } from "./administration.ts";
import { type AccessLog, createAccessLog, maskPath } from "./operations/access-log.ts";
import { createRefusals } from "./operations/refusals.ts";
import { createKeyRing, type KeyRing } from "./authentication.ts";
import { ClientGoneError } from "./bodies.ts";
import { addressGroup, createClientAddress } from "./forwarding.ts";
import { HANDLERS } from "./handlers.ts";
import { acceptsJson, checkBodyHead, refuseCrossSite, refuseWrite } from "./head.ts";
import { createOperatorPages, type Listener } from "./operations/operator-pages.ts";
import { parseBody, parseJsonBody, parseQuery } from "./parameters.ts";
import { HttpError, errorReply, internalErrorReply, jsonReply, toHttpResponse, type Reply } from "./replies.ts";
import { createRateLimiter, type RateLimit } from "./rate-limit.ts";
import { createRequestIds, traceIdOf } from "./operations/request-ids.ts";
import { createRouter, parseTarget, repairLink, type Match, type Target } from "./router.ts";

export interface HttpServiceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly rateLimit: RateLimit | null;
  /** The public URL without a trailing slash; null uses the URL of each request. */
  readonly publicUrl: string | null;
  /** Called after a write that may have scheduled a survey, with its due time in Unix seconds; now by default. */
  readonly onScheduled: (dueAt?: number) => void;
  /** Channels whose surveys are written to files. */
  readonly outboxChannels?: readonly Channel[];
  /** Further lines for `/metrics`. */
  readonly moreMetrics: () => Promise<readonly string[]>;
  /** Bearer token for `/metrics`; see `refuseReader`. */
  readonly metricsToken?: string | null;
  /** Addresses and networks whose `X-Forwarded-For` is trusted; see `createClientAddress`. */
  readonly trustedProxies?: readonly string[] | null;
  readonly isReady: () => boolean;
  readonly keys: KeyRing;
  readonly administration: () => Promise<Administration>;
  /** Handlers of paths outside the API, such as survey pages. */
  readonly handlers: readonly PathHandler[];
}

interface ServerRequest extends Omit<HttpRequest, "body"> {
  /** The body, or a function that reads it. */
  readonly body?: HttpRequest["body"] | (() => Promise<Uint8Array>);
  /** The client's address; undefined for a caller in this process. */
  readonly from?: string;
}

export interface PathRequest extends Target, Pick<HttpRequest, "method" | "headers"> {
  readonly body: () => Promise<Uint8Array>;
  /** See `addressGroup`; empty for a caller in this process. */
  readonly from: string;
}

export interface PathHandler {
  readonly name: string;
  /** Null if the path isn't its own. */
  readonly handle: (request: PathRequest) => Promise<HttpResponse | null> | null;
}

export type ServerExchange = (request: ServerRequest) => Promise<HttpResponse>;

export interface HttpHandler {
  readonly handle: ServerExchange;
  /** Answers a request that couldn't be parsed, with an id and a log line. */
  readonly refuse: (error: HttpError, method: string) => HttpResponse;
}

export interface HttpService extends HttpHandler {
  /** For callers in this process: list links use their own address, whatever the public URL. */
  readonly handleLocally: ServerExchange;
  readonly handleOperators: ServerExchange;
}

/** For the log line. */
interface Progress {
  readonly requestId: string;
  readonly traceId: string | null;
  match: Match | null;
  /** If there is no match. */
  path: string | null;
  handler: string | null;
  project: string | null;
}

const WRONG_KEYS: RateLimit = { requests: 60, periodSeconds: 60 };

/** A store's keys, with limits on guessing. */
export function createKeys(store: Store, clock: Clock, rateLimit: RateLimit | null): KeyRing {
  return createKeyRing(store, clock, {
    wrongKeys: createRateLimiter(WRONG_KEYS, clock),
    refusals: createRateLimiter(rateLimit, clock),
  });
}

export function createHttpService(options: HttpServiceOptions): HttpService {
  const { clock, log, store } = options;
  const requests = createRateLimiter(options.rateLimit, clock);
  const accessLog = createAccessLog(log, clock, store.about.engine);
  const common = createCommonHeaders(clock);
  const idOf = createRequestIds(options.random);
  const answer = createAnswer(options, (caller) => requests.count(caller));
  const choose = createChoice(options, answer, accessLog);
  const exchange = createExchange({ options, choose, accessLog, common, idOf });
  return {
    handle: (request) => exchange(request, "main"),
    handleLocally: (request) => exchange(request, "local"),
    handleOperators: (request) => exchange(request, "metrics"),
    refuse: (error, method) => {
      const requestId = idOf();
      const startedMs = clock.monotonic();
      const { status } = error;
      accessLog.add({ requestId, traceId: null, method, path: "*", route: null, project: null, status, startedMs });
      return toHttpResponse(errorReply(error), common(requestId), method === "HEAD");
    },
  };
}

type Choose = (
  request: ServerRequest,
  target: Target,
  progress: Progress,
  listener: Listener,
) => Promise<HttpResponse | Reply>;

/** Order: pages for operators, the API's description, public pages, the API. */
function createChoice(options: HttpServiceOptions, answer: Answer, accessLog: AccessLog): Choose {
  const { metricsToken = null, moreMetrics, trustedProxies = null, publicUrl } = options;
  const clientOf = createClientAddress(trustedProxies, publicUrl);
  const refusals = createRefusals(options.log, options.clock);
  const metrics = async (): Promise<string> =>
    [...accessLog.metrics(), ...refusals.metrics(), ...(await moreMetrics()), ""].join("\n");
  const operators = createOperatorPages({ ...options, metricsToken, metrics });
  return async (request, target, progress, listener) => {
    const { method, headers, from } = request;
    const own = operators({ method, headers, from, path: target.path }, listener);
    if (own !== null) {
      progress.handler = own.name;
      return own.reply();
    }
    if (listener === "metrics") throw new HttpError(404);
    if (target.path === "/openapi.json") {
      progress.handler = "openapi";
      if (method !== "GET" && method !== "HEAD") throw new HttpError(405, undefined, { allow: "GET, HEAD" });
      return jsonReply(200, toOpenApi({ version: VERSION, serverUrl: publicUrl ?? target.origin }));
    }
    const client = addressGroup(clientOf(request) ?? "");
    const known = from === undefined || client === from ? request : { ...request, from: client };
    try {
      return (await askHandlers(options, known, target, progress)) ?? (await answer(known, target, progress, listener));
    } catch (error) {
      const isKey = error instanceof HttpError && error.status === 401;
      if (isKey || error instanceof ForbiddenError) refusals.add(isKey ? "key" : "access", clientOf(request));
      throw error;
    }
  };
}

interface ExchangeParts {
  readonly options: HttpServiceOptions;
  readonly choose: Choose;
  readonly accessLog: AccessLog;
  readonly common: (requestId: string) => Readonly<Record<string, string>>;
  readonly idOf: ReturnType<typeof createRequestIds>;
}

/** Adds the request id and the log line. */
function createExchange(parts: ExchangeParts): (request: ServerRequest, listener: Listener) => Promise<HttpResponse> {
  const { choose, accessLog, common, idOf } = parts;
  const { clock, log } = parts.options;
  return async (request, listener) => {
    const startedMs = clock.monotonic();
    const end = accessLog.begin();
    try {
      const target = repairLink(parseTarget(request.url));
      const [requestId, traceId] = [idOf(request.headers), traceIdOf(request.headers)];
      const progress: Progress = { requestId, traceId, match: null, path: null, handler: null, project: null };
      const reply = await settle(() => choose(request, target, progress, listener), progress, log);
      const { match, handler, project } = progress;
      const path = match?.route.path ?? progress.path ?? maskPath(target.path);
      const { method } = request;
      const route = match?.name ?? handler;
      accessLog.add({ requestId, traceId, method, path, route, project, status: reply.status, startedMs });
      if ("body" in reply) return { ...reply, headers: { ...common(requestId), ...reply.headers } };
      return toHttpResponse(reply, common(requestId), method === "HEAD");
    } finally {
      end();
    }
  };
}

/** Returns null right away if no handler owns the path. */
function askHandlers(
  { handlers }: HttpServiceOptions,
  { method, headers, from = "", body = "" }: ServerRequest,
  target: Target,
  progress: Progress,
): Promise<HttpResponse | null> | null {
  const request: PathRequest = { ...target, method, headers, from, body: () => bodyBytes(body) };
  for (const { name, handle } of handlers) {
    const answered = handle(request);
    if (answered === null) continue;
    progress.handler = name;
    return answered;
  }
  return null;
}

type Answer = (request: ServerRequest, target: Target, progress: Progress, listener: Listener) => Promise<Reply>;

function createAnswer(options: HttpServiceOptions, count: (caller: string) => void): Answer {
  const { store, keys, publicUrl, onScheduled, outboxChannels = [] } = options;
  const find = createRouter();
  return async (request, target, progress, listener) => {
    const { method, headers } = request;
    const from = request.from ?? "";
    const operation = operationIn(target.path);
    if (operation !== null) return answerOperation(options, request, operation, progress, count);
    const found = find(method, target.path);
    const isServed = found !== null && "route" in found && (found.hasSuffix || acceptsJson(headers.accept));
    // Read-only keys get 403 for every write, even to unknown paths.
    if (found !== null && !isServed && !isReading(method) && headers.authorization !== undefined)
      refuseWrite(method, await keys.requiredAccess(headers.authorization, from));
    const match = requireMatch(found);
    progress.match = match;
    if (!isServed) throw new HttpError(406, "Not Acceptable: only application/json is served");
    refuseCrossSite(method, headers);
    const { project, access, actor, keyHash } = await keys.identify(headers.authorization, from);
    progress.project = project.name;
    count(keyHash);
    refuseWrite(method, access);
    const { route, placeholders, unstripped } = match;
    const query = parseQuery(target.query, route);
    const parameters = hasBody(request) ? { ...query, ...(await bodyParameters(request, match)) } : query;
    const appUrl = publicUrl ?? target.origin;
    const reply = await HANDLERS[match.name]({
      store,
      project,
      actor,
      route,
      placeholders,
      unstripped,
      parameters,
      address: (listener === "local" ? target.origin : appUrl) + target.path,
      links: { permalink: (token) => `${appUrl}/r/${token}` },
      onScheduled,
      outboxChannels,
    });
    return { ...reply, headers: { ...reply.headers, [KEY_ACCESS_HEADER]: access } };
  };
}

async function answerOperation(
  { keys, administration, onScheduled }: HttpServiceOptions,
  { method, headers, from = "", body = "" }: ServerRequest,
  name: string,
  progress: Progress,
  count: (caller: string) => void,
): Promise<Reply> {
  progress.handler = name === "" ? "listOperations" : "callOperation";
  refuseCrossSite(method, headers);
  const caller = await keys.identify(headers.authorization, from);
  progress.project = caller.project.name;
  count(caller.keyHash);
  const input = async (): Promise<JsonObject> => {
    checkBodyHead(headers);
    return parseJsonBody(typeof body === "function" ? await body() : body);
  };
  const open = async (): Promise<Administration> => {
    const opened = await administration();
    // Any other name is the caller's words.
    if (opened.has(name)) progress.path = `${OPERATIONS_PATH}/${name}`;
    return opened;
  };
  const reply = await administer({ method, name, caller, input }, open);
  if (name !== "") onScheduled();
  return reply;
}

/** Some clients send `{}` or a content type with a GET; ignore it. */
function hasBody({ method, body }: ServerRequest): boolean {
  return method !== "GET" && method !== "HEAD" && body !== undefined && (typeof body === "function" || body.length > 0);
}

async function bodyParameters({ headers, body = "" }: ServerRequest, { route }: Match): Promise<JsonObject> {
  checkBodyHead(headers);
  return parseBody(typeof body === "function" ? await body() : body, headers["content-type"], route);
}

/** Answers contain personal data: never cache them, and never let browsers guess the type. */
const PRIVATE = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** An answer's own headers take precedence. */
function createCommonHeaders(clock: Clock): (requestId: string) => Readonly<Record<string, string>> {
  const state = { second: 0, date: "" };
  return (requestId) => {
    const second = Math.floor(clock.now() / 1000);
    if (second !== state.second) Object.assign(state, { second, date: new Date(second * 1000).toUTCString() });
    return { ...PRIVATE, date: state.date, "x-request-id": requestId };
  };
}

function requireMatch(found: ReturnType<ReturnType<typeof createRouter>>): Match {
  if (found === null) throw new HttpError(404);
  if ("allow" in found) throw new HttpError(405, undefined, { allow: found.allow });
  return found;
}

async function settle(
  work: () => Promise<HttpResponse | Reply>,
  { requestId, traceId }: Progress,
  log: Log,
): Promise<HttpResponse | Reply> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ClientGoneError) throw error;
    const reply = errorReply(error);
    if (reply !== null) return reply;
    log.error("fault", {
      request_id: requestId,
      ...(traceId === null ? {} : { trace_id: traceId }),
      error: error instanceof Error ? (error.stack ?? error.message) : "not an Error",
    });
    return internalErrorReply();
  }
}

async function bodyBytes(body: NonNullable<ServerRequest["body"]>): Promise<Uint8Array> {
  const whole = typeof body === "function" ? await body() : body;
  return typeof whole === "string" ? Buffer.from(whole) : whole;
}
