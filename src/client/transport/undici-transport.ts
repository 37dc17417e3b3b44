import Pool, { type PoolOptions, type Tunnel } from "undici/lib/dispatcher/pool.js";
import type { Exchange, HttpRequest, HttpResponse } from "../../contract/http.ts";
import { connectionFailure, TrickleError, type FailureContext } from "./connection-failure.ts";
import { systemClock } from "../../runtime/clock.ts";
import { onAbort } from "../../runtime/on-abort.ts";
import { delayWasmOptimization } from "../../runtime/v8-limits.ts";
import { nameCall } from "../errors/client-error.ts";
import { ConnectionError, type Sent } from "../errors/call-errors.ts";
import {
  proxyFor,
  proxyRefusal,
  ProxyError,
  ProxySettingError,
  slowProxy,
  unreachableProxy,
  type ProxyEnvironment,
  type Proxy,
} from "./proxy.ts";
import { ResponseStream } from "../answer/response-stream.ts";

export interface TransportOptions {
  readonly baseUrl: string;
  /** Supplies `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
  readonly env: ProxyEnvironment;
  /** Longest wait for the response, and between chunks. A body that takes longer must average 1 KiB/s. */
  readonly timeoutMs?: number | null;
  /** If true, a person is waiting, so a loopback server that refuses the first connection isn't tried again. */
  readonly connections?: number;
  /** A person is waiting, so a loopback server that refuses the first connection isn't tried again. */
  readonly isInteractive?: boolean;
}

const CONNECT_TIMEOUT_MS = 10_000;
const TIMEOUT_MS = 30_000;

/** Rejects with `ConnectionError`, `TimeoutError` or the signal's reason. */
export function undiciTransport(options: TransportOptions): Exchange & { close(): Promise<void> } {
  const { origin, host } = new URL(options.baseUrl);
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  let route: Route | null = null;
  let mayBeAbsent = options.isInteractive === true;
  delayWasmOptimization();

  const exchange = async (request: HttpRequest): Promise<HttpResponse> => {
    const call = nameCall(request.method, request.url);
    request.signal?.throwIfAborted();
    try {
      route ??= await openRoute(new URL(origin), options, timeoutMs);
    } catch (error) {
      if (!(error instanceof ProxySettingError)) throw error;
      throw new ConnectionError(error.message, { call, sent: "no", repeatsMax: 0 });
    }
    const context = { call, host, proxy: route.proxy?.url.host ?? null, timeoutMs, mayBeAbsent };
    const response = await dispatch(route, request, context);
    mayBeAbsent = false;
    return response;
  };
  return Object.assign(exchange, {
    close: async (): Promise<void> => {
      // Doesn't wait for running requests, because a stalled server would block it.
      await route?.pool.destroy();
      route = null;
    },
  });
}

interface Route {
  readonly pool: Pick<Pool, "dispatch" | "destroy">;
  readonly proxy: Proxy | null;
  /** True for plain `http:`, which the proxy forwards without a tunnel. */
  readonly forwarded: boolean;
}

async function openRoute(target: URL, options: TransportOptions, timeoutMs: number): Promise<Route> {
  const proxy = proxyFor(target, options.env);
  const settings = {
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connections: options.connections ?? null,
    connect: { timeout: Math.min(CONNECT_TIMEOUT_MS, timeoutMs) },
  };
  if (proxy === null) return { pool: new Pool(target.origin, settings), proxy, forwarded: false };
  if (target.protocol === "http:") return { pool: new Pool(proxy.url.origin, settings), proxy, forwarded: true };
  return { pool: await openTunnels(target.origin, proxy, settings), proxy, forwarded: false };
}

async function openTunnels(origin: string, proxy: Proxy, settings: PoolOptions): Promise<Route["pool"]> {
  const { default: ProxyAgent } = await import("undici/lib/dispatcher/proxy-agent.js");
  const { default: connectThrough } = await import("undici/lib/api/api-connect.js");
  const { connect, ...rest } = settings;
  const agent = new ProxyAgent({
    ...rest,
    uri: proxy.url.href,
    ...(proxy.authorization !== null && { token: proxy.authorization }),
    proxyTls: connect,
    requestTls: connect,
    clientFactory: (url, { connect: connectProxy }) => {
      const pool = new Pool(url.origin, {
        ...rest,
        connect: connectProxy,
        headersTimeout: connect.timeout,
      });
      return {
        connect: async (request) => await blamingProxy(proxy, connectThrough.call(pool, request)),
        close: () => pool.close(),
        destroy: () => pool.destroy(),
      };
    },
  });
  return {
    dispatch: (request, handler) => agent.dispatch({ ...request, origin }, handler),
    destroy: () => agent.destroy(),
  };
}

/** Reports a failure to open the tunnel as the proxy's. */
async function blamingProxy(proxy: Proxy, opening: Promise<Tunnel>): Promise<Tunnel> {
  const tunnel = await opening.catch((error: Error & { readonly code?: string }) => {
    const isLate = ["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT"].includes(error.code ?? "");
    throw isLate ? slowProxy(proxy) : unreachableProxy(proxy, error);
  });
  if (tunnel.statusCode >= 200 && tunnel.statusCode < 300) return { ...tunnel, statusCode: 200 };
  tunnel.socket.destroy();
  throw proxyRefusal(proxy, tunnel.statusCode);
}

function dispatch(route: Route, request: HttpRequest, context: Omit<FailureContext, "sent">): Promise<HttpResponse> {
  const { signal } = request;
  return new Promise((resolve, reject) => {
    let sent: Sent = "no";
    let body: ResponseStream | null = null;
    let abort: ((reason: Error) => void) | null = null;
    const isTrickle = createFloor(context.timeoutMs);
    const done = onAbort(signal, () => {
      reject(signal?.reason as Error);
      body?.fail(signal?.reason as Error);
      abort?.(signal?.reason as Error);
    });

    route.pool.dispatch(
      { method: request.method, ...requestTarget(route, request), body: request.body ?? null },
      {
        onRequestStart: (controller) => {
          abort = (reason) => controller.abort(reason);
          if (signal?.aborted === true) controller.abort(signal.reason as Error);
          else sent = "maybe";
        },
        onResponseStart: (controller, status, headers) => {
          if (status < 200) return;
          if (status === 407 && route.forwarded && route.proxy !== null) {
            sent = "no";
            controller.abort(proxyRefusal(route.proxy, status));
            return;
          }
          const cancel = (): void => controller.abort(new Error("the rest of the body isn't needed"));
          body = new ResponseStream({ pause: () => controller.pause(), resume: () => controller.resume(), cancel });
          resolve({ status, headers: joined(headers), body });
        },
        onResponseData: (controller, chunk) => {
          body?.push(chunk);
          if (isTrickle(chunk.byteLength)) controller.abort(new TrickleError());
        },
        onResponseEnd: () => {
          done();
          body?.end();
        },
        onResponseError: (_, error) => {
          done();
          const failure = connectionFailure(blamed(error, route, sent), { ...context, sent });
          if (body === null) reject(failure);
          else body.fail(failure);
        },
      },
    );
  });
}

const BYTES_PER_SECOND_MIN = 1024;

/** True once the body has taken longer than `timeoutMs` and arrives too slowly. */
function createFloor(timeoutMs: number): (bytes: number) => boolean {
  let beganAt: number | null = null;
  let bytes = 0;
  return (more) => {
    const now = systemClock.monotonic();
    beganAt ??= now;
    bytes += more;
    const elapsedMs = now - beganAt;
    return elapsedMs > timeoutMs && bytes * 1000 < elapsedMs * BYTES_PER_SECOND_MIN;
  };
}

/** If a forwarded request wasn't sent, it was the proxy that failed. */
function blamed(error: Error, { forwarded, proxy }: Route, sent: Sent): Error {
  const isOwn = error instanceof ProxyError || !forwarded || proxy === null || sent === "maybe";
  return isOwn ? error : unreachableProxy(proxy, error);
}

function requestTarget(route: Route, { url, headers }: HttpRequest) {
  const { host, pathname, search } = new URL(url);
  if (!route.forwarded) return { path: `${pathname}${search}`, headers };
  const authorization = route.proxy?.authorization ?? null;
  return {
    path: url,
    headers: { ...headers, host, ...(authorization !== null && { "proxy-authorization": authorization }) },
  };
}

/** Intermediaries can repeat these headers; the first one counts. */
const SINGLE: ReadonlySet<string> = new Set(["content-type", "date", "location", "retry-after"]);

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Readonly<Record<string, string>> {
  const repeated = Object.values(headers).some((value) => typeof value !== "string");
  if (!repeated) return headers as Readonly<Record<string, string>>;
  const all = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    (Array.isArray(value) ? (SINGLE.has(name) ? value[0] : value.join(", ")) : value) ?? "",
  ]);
  return Object.fromEntries(all);
}
