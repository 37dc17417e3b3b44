/** The service as a function from request to response: routes, credentials, limits, parameters, replies. */
import type { Exchange, HttpRequest, HttpResponse } from "../../contract/http.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import type { Store } from "../domain/ports.ts";
import { createAccessLog, maskPath } from "./access-log.ts";
import { createKeyRing, type KeyRing } from "./authentication.ts";
import { HANDLERS } from "./handlers.ts";
import { HttpError } from "./http-error.ts";
import { acceptsJson } from "./negotiation.ts";
import { readParameters } from "./parameters.ts";
import { errorReply, internalErrorReply, jsonReply, toHttpResponse, type Reply } from "./replies.ts";
import { createRateLimiter, type RateLimit } from "./rate-limit.ts";
import { createRouter, type Match } from "./router.ts";
import { parseTarget, type Target } from "./target.ts";

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
  readonly moreMetrics: () => string;
  /** Whether new work is still taken. */
  readonly isReady: () => boolean;
}

export interface HttpService {
  readonly handle: Exchange;
  /** As `handle`, for the control channel: pages go on where they were asked for, whatever the public URL is. */
  readonly handleLocally: Exchange;
  readonly keys: KeyRing;
}

/** What is known of a request so far, for its log line. */
interface Progress {
  readonly head: boolean;
  match: Match | null;
  project: string | null;
}

export function createHttpService(options: HttpServiceOptions): HttpService {
  const { store, clock, random, log, publicUrl } = options;
  const keys = createKeyRing(store);
  const find = createRouter();
  const limit = createRateLimiter(options.rateLimit, clock);
  const accessLog = createAccessLog(log, clock);
  const run = `${random.token(6)}-`;
  const state = { requests: 0, second: 0, date: "" };

  const answer = async (
    request: HttpRequest,
    target: Target,
    progress: Progress,
    linkOrigin: string,
  ): Promise<Reply> => {
    const match = requireMatch(find(request.method, target.path));
    progress.match = match;
    if (!match.hasSuffix && !acceptsJson(request.headers.accept))
      throw new HttpError(406, "Not Acceptable: only application/json is served");
    const caller = await keys.identify(request.headers.authorization);
    progress.project = caller.project.name;
    limit(caller.keyHash);
    const { route, placeholders, unstripped } = match;
    const parameters = readParameters(request, target.query, route);
    const appUrl = publicUrl ?? target.origin;
    const links = { permalink: (token: string): string => `${appUrl}/r/${token}` };
    const address = linkOrigin + target.path;
    const { project } = caller;
    const reply = await HANDLERS[match.name]({
      store,
      project,
      route,
      placeholders,
      unstripped,
      parameters,
      address,
      links,
    });
    if (match.name === "sendPerson" || match.name === "addMember") options.onScheduled();
    return reply;
  };

  const date = (): string => {
    const second = Math.floor(clock.now() / 1000);
    if (second !== state.second) Object.assign(state, { second, date: new Date(second * 1000).toUTCString() });
    return state.date;
  };

  const exchange = async (request: HttpRequest, local: boolean): Promise<HttpResponse> => {
    const startedMs = clock.monotonic();
    const target = parseTarget(request.url);
    const requestId = run + (state.requests += 1).toString(36);
    const progress: Progress = { head: request.method === "HEAD", match: null, project: null };
    const own = await ownPage(target.path, request.method, options, accessLog.metrics);
    const reply =
      own ??
      (await settle(
        () => answer(request, target, progress, local ? target.origin : (publicUrl ?? target.origin)),
        requestId,
        log,
      ));
    const path = progress.match?.route.path ?? maskPath(target.path);
    const route = progress.match?.name ?? null;
    accessLog.add({
      requestId,
      method: request.method,
      path,
      route,
      project: progress.project,
      status: reply.status,
      startedMs,
    });
    return toHttpResponse(reply, { date: date(), "x-request-id": requestId }, progress.head);
  };
  return { handle: (request) => exchange(request, false), handleLocally: (request) => exchange(request, true), keys };
}

function requireMatch(found: ReturnType<ReturnType<typeof createRouter>>): Match {
  if (found === null) throw new HttpError(404);
  if ("allow" in found) throw new HttpError(405, undefined, { allow: found.allow });
  return found;
}

async function settle(work: () => Promise<Reply>, requestId: string, log: Log): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
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

/** Pages for those who run the service; no key, nobody's data. */
async function ownPage(
  path: string,
  method: string,
  options: HttpServiceOptions,
  metrics: () => string,
): Promise<Reply | null> {
  if (!OWN_PAGES.has(path)) return null;
  if (method !== "GET" && method !== "HEAD") return errorReply(new HttpError(405, undefined, { allow: "GET, HEAD" }));
  if (path === "/healthz") return jsonReply(200, { status: "ok" });
  if (path === "/metrics") {
    return {
      status: 200,
      text: metrics() + options.moreMetrics(),
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
