/** The service as a function from request to response: routes, credentials, limits, parameters, replies. */
import type { HttpRequest, HttpResponse } from "../../contract/http.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import type { Store } from "../domain/ports.ts";
import { createAccessLog, maskPath, type AccessLog } from "./access-log.ts";
import { createKeyRing, type KeyRing } from "./authentication.ts";
import { ClientGoneError } from "./bodies.ts";
import { HANDLERS } from "./handlers.ts";
import { acceptsJson, checkBodyHead, refuseCrossSite } from "./head.ts";
import { parseBody, parseQuery } from "./parameters.ts";
import { HttpError, errorReply, internalErrorReply, jsonReply, toHttpResponse, type Reply } from "./replies.ts";
import { createRateLimiter, type RateLimit } from "./rate-limit.ts";
import { createRouter, parseTarget, type Match, type Target } from "./router.ts";

export interface HttpServiceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly rateLimit: RateLimit | null;
  /** Where the service is seen from outside, without a slash at the end; null: wherever the request was sent to. */
  readonly publicUrl: string | null;
  /** Called after each write that may have scheduled a survey. */
  readonly onScheduled: () => void;
  /** Lines for `/metrics` besides those about requests. */
  readonly moreMetrics: () => Promise<string>;
  /** Whether new work is still taken. */
  readonly isReady: () => boolean;
  /** What is no part of the API, such as the pages that people see: each answers, or says null for what is not its own. */
  readonly otherFaces: readonly OtherFace[];
}

/** A request whose body need not have arrived yet. */
export interface ServerRequest extends Omit<HttpRequest, "body"> {
  /** The whole body, or what reads it once the headers are in order. */
  readonly body?: HttpRequest["body"] | (() => Promise<Uint8Array>);
  /** Address of the caller; absent: a caller in this process. */
  readonly from?: string;
}

export type OtherFace = (request: ServerRequest, target: Target) => Promise<HttpResponse | null> | null;

export type ServerExchange = (request: ServerRequest) => Promise<HttpResponse>;

/** What a listener needs of a service. */
export interface Face {
  readonly handle: ServerExchange;
  /** The answer to what is no request. Like every other answer it has an id, is logged and counted. */
  readonly refuse: (error: HttpError, method: string) => HttpResponse;
}

export interface HttpService extends Face {
  /** As `handle`, for the control channel: pages go on where they were asked for, whatever the public URL is. */
  readonly handleLocally: ServerExchange;
  readonly keys: KeyRing;
}

/** What is known of a request so far, for its log line. */
interface Progress {
  match: Match | null;
  project: string | null;
}

/** Wrong keys that an address may send. */
const WRONG_KEYS: RateLimit = { requests: 60, periodSeconds: 60 };
/** 12 random bytes. */
const REQUEST_ID_LENGTH = 16;
const IDS_AT_ONCE = 64;

export function createHttpService(options: HttpServiceOptions): HttpService {
  const { clock, random, log } = options;
  const requests = createRateLimiter(options.rateLimit, clock);
  const keys = createKeyRing(options.store, options.clock, {
    wrongKeys: createRateLimiter(WRONG_KEYS, clock),
    refusals: createRateLimiter(options.rateLimit, clock),
  });
  const accessLog = createAccessLog(log, clock);
  const answer = createAnswer(options, keys, (caller) => requests.count(caller));
  const common = createCommonHeaders(clock);
  const nextId = createIds(random);

  const exchange = async (request: ServerRequest, isLocal: boolean): Promise<HttpResponse> => {
    const startedMs = clock.monotonic();
    const target = parseTarget(request.url);
    const requestId = nextId();
    const progress: Progress = { match: null, project: null };
    const isOperator = isLocal || (options.publicUrl === null && isLoopback(request.from));
    const own = await ownPage(target.path, request.method, options, isOperator, accessLog);
    const reply =
      own ??
      (await settle<HttpResponse | Reply>(
        async () => (await askFaces(options, request, target)) ?? answer(request, target, progress, isLocal),
        requestId,
        log,
      ));
    accessLog.add({
      requestId,
      method: request.method,
      path: progress.match?.route.path ?? maskPath(target.path),
      route: progress.match?.name ?? null,
      project: progress.project,
      status: reply.status,
      startedMs,
    });
    if ("body" in reply) return { ...reply, headers: { ...common(requestId), ...reply.headers } };
    return toHttpResponse(reply, common(requestId), request.method === "HEAD");
  };
  return {
    handle: (request) => exchange(request, false),
    handleLocally: (request) => exchange(request, true),
    refuse: (error, method) => {
      const requestId = nextId();
      const startedMs = clock.monotonic();
      const { status } = error;
      accessLog.add({ requestId, method, path: "*", route: null, project: null, status, startedMs });
      return toHttpResponse(errorReply(error) ?? internalErrorReply(), common(requestId), method === "HEAD");
    },
    keys,
  };
}

/** Nothing is waited for where no face claims the path. */
function askFaces(
  { otherFaces }: HttpServiceOptions,
  request: ServerRequest,
  target: Target,
): Promise<HttpResponse | null> | null {
  for (const face of otherFaces) {
    const answered = face(request, target);
    if (answered !== null) return answered;
  }
  return null;
}

type Answer = (request: ServerRequest, target: Target, progress: Progress, isLocal: boolean) => Promise<Reply>;

function createAnswer(options: HttpServiceOptions, keys: KeyRing, count: (caller: string) => void): Answer {
  const { store, publicUrl } = options;
  const find = createRouter();
  return async (request, target, progress, isLocal) => {
    const { method, headers } = request;
    const match = requireMatch(find(method, target.path));
    progress.match = match;
    if (!match.hasSuffix && !acceptsJson(headers.accept))
      throw new HttpError(406, "Not Acceptable: only application/json is served");
    refuseCrossSite(method, headers);
    const { project, keyHash } = await keys.identify(headers.authorization, addressGroup(request.from));
    progress.project = project.name;
    count(keyHash);
    const { route, placeholders, unstripped } = match;
    const query = parseQuery(target.query, route);
    const parameters = hasBody(request) ? { ...query, ...(await bodyParameters(request, match)) } : query;
    const appUrl = publicUrl ?? target.origin;
    const reply = await HANDLERS[match.name]({
      store,
      project,
      route,
      placeholders,
      unstripped,
      parameters,
      address: (isLocal ? target.origin : appUrl) + target.path,
      links: { permalink: (token) => `${appUrl}/r/${token}` },
    });
    if (match.name === "sendPerson" || match.name === "addMember") options.onScheduled();
    return reply;
  };
}

/** Clients put `{}` into a GET, or name a type for a body that is not there: never read. */
function hasBody({ method, body }: ServerRequest): boolean {
  return method !== "GET" && method !== "HEAD" && body !== undefined && (typeof body === "function" || body.length > 0);
}

async function bodyParameters({ headers, body = "" }: ServerRequest, { route }: Match): Promise<JsonObject> {
  checkBodyHead(headers);
  return parseBody(typeof body === "function" ? await body() : body, headers["content-type"], route);
}

/**
 * `/metrics` reports on all projects and needs no key: it is for callers on this machine, but never behind a
 * public URL, where a proxy on this machine speaks for the whole world.
 */
function isLoopback(from: string | undefined): boolean {
  return from === undefined || from === "::1" || /^(?:::ffff:)?127\./.test(from);
}

/** The owner of an IPv6 address has all of its /64 network. */
function addressGroup(from = ""): string {
  return from.includes(":") && !from.includes(".") ? from.split(":").slice(0, 4).join(":") : from;
}

/** Random ids, so that no project can count the requests of others; made many at once, which costs a tenth. */
function createIds(random: Random): () => string {
  const state = { ids: "", at: 0 };
  return () => {
    if (state.at === state.ids.length)
      Object.assign(state, { ids: random.token((IDS_AT_ONCE * REQUEST_ID_LENGTH * 3) / 4), at: 0 });
    state.at += REQUEST_ID_LENGTH;
    return state.ids.slice(state.at - REQUEST_ID_LENGTH, state.at);
  };
}

function createCommonHeaders(clock: Clock): (requestId: string) => Readonly<Record<string, string>> {
  const state = { second: 0, date: "" };
  return (requestId) => {
    const second = Math.floor(clock.now() / 1000);
    if (second !== state.second) Object.assign(state, { second, date: new Date(second * 1000).toUTCString() });
    return { date: state.date, "x-request-id": requestId };
  };
}

function requireMatch(found: ReturnType<ReturnType<typeof createRouter>>): Match {
  if (found === null) throw new HttpError(404);
  if ("allow" in found) throw new HttpError(405, undefined, { allow: found.allow });
  return found;
}

async function settle<Answered extends HttpResponse | Reply>(
  work: () => Promise<Answered>,
  requestId: string,
  log: Log,
): Promise<Answered | Reply> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ClientGoneError) throw error;
    const reply = errorReply(error);
    if (reply !== null) return reply;
    log.error("fault", {
      request_id: requestId,
      error: error instanceof Error ? (error.stack ?? error.message) : "not an Error",
    });
    return internalErrorReply();
  }
}

const OWN_PAGES = new Set(["/healthz", "/readyz", "/metrics"]);

/** Pages for operators: no key, no personal data. */
async function ownPage(
  path: string,
  method: string,
  options: HttpServiceOptions,
  isOperator: boolean,
  { metrics }: AccessLog,
): Promise<Reply | null> {
  if (!OWN_PAGES.has(path)) return null;
  if (path === "/metrics" && !isOperator) return errorReply(new HttpError(404));
  if (method !== "GET" && method !== "HEAD") return errorReply(new HttpError(405, undefined, { allow: "GET, HEAD" }));
  if (path === "/healthz") return jsonReply(200, { status: "ok" });
  if (path === "/metrics") {
    return {
      status: 200,
      text: metrics() + (await options.moreMetrics()),
      headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    };
  }
  return (await isReady(options)) ? jsonReply(200, { status: "ready" }) : errorReply(new HttpError(503));
}

async function isReady({ store, isReady: takesWork }: HttpServiceOptions): Promise<boolean> {
  if (!takesWork()) return false;
  try {
    await store.read((tx) => tx.projects.list());
    return true;
  } catch {
    return false;
  }
}
