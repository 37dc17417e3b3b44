/** One POST to an endpoint: no redirect, no proxy, and no connection to an address that the webhook may not reach. */
import { lookup, type LookupAddress } from "node:dns";
import { Agent as HttpAgent, request as requestHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { callbackify } from "node:util";
import type { Clock } from "../../runtime/clock.ts";
import { onAbort } from "../../runtime/on-abort.ts";
import { refuseAddress, refuseUrl, type WebhookReach } from "../domain/webhooks/addresses.ts";
import type { AttemptEnd } from "../domain/webhooks/attempts.ts";

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>;

export interface EndpointOptions {
  readonly clock: Clock;
  /** Addresses of this service itself, which no event may go to. */
  readonly own: () => readonly string[];
  /** Absent: as the system resolves names. */
  readonly resolve?: Resolve;
}

export interface Destination extends WebhookReach {
  readonly url: string;
}

/** The connections to one endpoint: each endpoint has its own, so that none waits for another. */
export interface EndpointTransport {
  /** Never throws: what goes wrong is how the attempt ended. Null when `signal` ended it. */
  readonly post: (
    target: Destination,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ) => Promise<AttemptEnd | null>;
  readonly close: () => void;
}

export const TIMEOUT_MS = 15_000;
const BODY_BYTES_MAX = 4_096;
const LOGGED_BYTES_MAX = 1_024;
const IDLE_MS = 30_000;

/** A name led to an address that the webhook may not reach. */
export class RefusedAddressError extends Error {
  override readonly name = "RefusedAddressError";
}

export function createEndpointTransport(options: EndpointOptions, connections: number): EndpointTransport {
  const { clock } = options;
  const settings = { keepAlive: true, maxSockets: connections, timeout: IDLE_MS };
  const agents = { http: new HttpAgent(settings), https: new HttpsAgent(settings) };
  return {
    post: async (target, headers, body, signal) => {
      const startedMs = clock.monotonic();
      const end = (status: number | null, text: string, retryAfter: number | null = null): AttemptEnd => ({
        status,
        text,
        retryAfter,
        ms: clock.monotonic() - startedMs,
      });
      // A literal address is never looked up, so it is checked here, and every time.
      const refusal = refuseUrl(target.url, target, options.own());
      if (refusal !== null) return end(null, refusal.message);
      const timer = startTimer(clock, signal);
      const send = (): Promise<Answer> => exchange(target, { headers, body, agents, options }, timer.signal);
      try {
        const { status, text, retryAfter } = await send().catch((error) => againWhenStale(error, send));
        return end(status, text, readRetryAfter(retryAfter, clock));
      } catch (error) {
        if (signal.aborted) return null;
        return end(null, timer.isOver() ? `no answer within ${TIMEOUT_MS / 1000} s` : describe(error));
      } finally {
        timer.stop();
      }
    },
    close: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

interface Answer {
  readonly status: number;
  /** Its first kilobyte. */
  readonly text: string;
  readonly retryAfter: string | undefined;
}

/** A connection that was kept open had been closed by the other end: nothing of the request has arrived. */
class StaleConnectionError extends Error {
  override readonly name = "StaleConnectionError";
}

async function againWhenStale(error: unknown, send: () => Promise<Answer>): Promise<Answer> {
  if (error instanceof StaleConnectionError) return send();
  throw error;
}

interface Sending {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly agents: { readonly http: HttpAgent; readonly https: HttpsAgent };
  readonly options: EndpointOptions;
}

function exchange(
  target: Destination,
  { headers, body, agents, options }: Sending,
  signal: AbortSignal,
): Promise<Answer> {
  const url = new URL(target.url);
  const isTls = url.protocol === "https:";
  return new Promise((resolve, reject) => {
    const state = { isAnswered: false };
    const request: ClientRequest = (isTls ? requestHttps : requestHttp)(url, {
      method: "POST",
      headers: { ...headers, accept: "*/*", "content-length": Buffer.byteLength(body) },
      agent: isTls ? agents.https : agents.http,
      lookup: checkedLookup(url, target, options.resolve ?? resolveName),
      signal,
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (state.isAnswered) return;
      const isStale = request.reusedSocket && error.code === "ECONNRESET";
      reject(isStale ? new StaleConnectionError(error.message, { cause: error }) : error);
    });
    request.on("response", (response) => {
      state.isAnswered = true;
      void readAnswer(response, request).then(resolve, reject);
    });
    request.end(body);
  });
}

/** The status counts, whatever becomes of the body; of that no more is read than 4 KB. */
async function readAnswer(response: IncomingMessage, request: ClientRequest): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > BODY_BYTES_MAX) break;
    }
  } catch {
    // What has come is kept.
  }
  if (bytes > BODY_BYTES_MAX || !response.complete) request.destroy();
  const text = Buffer.concat(chunks).subarray(0, LOGGED_BYTES_MAX).toString("utf8");
  return {
    status: response.statusCode ?? 0,
    text: text.replaceAll("\0", "\uFFFD"),
    retryAfter: response.headers["retry-after"],
  };
}

/**
 * Resolves a name and lets the connection be made only when every address of it is allowed: the addresses that were
 * checked are the ones that are connected to. `autoSelectFamily` asks for all of them.
 */
export function checkedLookup(url: URL, reach: WebhookReach, resolve: Resolve): LookupFunction {
  const check = async (hostname: string): Promise<readonly LookupAddress[]> => {
    const addresses = await resolve(hostname);
    if (addresses.length === 0) throw new Error(`${hostname} has no address`);
    const refusal = addresses.map(({ address }) => refuseAddress(address, url, reach)).find((one) => one !== null);
    if (refusal !== undefined) throw new RefusedAddressError(refusal.message);
    return addresses;
  };
  return (hostname, { all }, callback) => {
    const tell = callbackify(check);
    tell(hostname, (error, addresses) => {
      const [first] = error === null ? addresses : [];
      if (all === true) callback(error, error === null ? [...addresses] : []);
      else callback(error, first?.address ?? "", first?.family);
    });
  };
}

const resolveName: Resolve = (name) =>
  new Promise((resolve, reject) => {
    lookup(name, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  });

/** Not a DOMException made for each attempt: those cost more than the request's own headers. */
const OVER = new Error("over");

function startTimer(
  clock: Clock,
  signal: AbortSignal,
): { readonly signal: AbortSignal; readonly isOver: () => boolean; readonly stop: () => void } {
  const ending = new AbortController();
  const done = new AbortController();
  const state = { isOver: false };
  const ring = async (): Promise<void> => {
    await clock.sleep(TIMEOUT_MS, done.signal);
    state.isOver = true;
    ending.abort(OVER);
  };
  void ring().catch(() => undefined);
  const stopWaiting = onAbort(signal, () => ending.abort(OVER));
  const stop = (): void => {
    stopWaiting();
    done.abort(OVER);
  };
  return { signal: ending.signal, isOver: () => state.isOver, stop };
}

/** Seconds, from a number or a date; null when there is none. */
function readRetryAfter(text: string | undefined, clock: Clock): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - clock.now()) / 1000));
}

const CERTIFICATE_PROBLEM = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/;

function describe(error: unknown): string {
  const { code, message } = (error instanceof AggregateError ? (error.errors as unknown[])[0] : error) as Error & {
    readonly code?: string;
  };
  const known: Readonly<Record<string, string>> = {
    ENOTFOUND: "the host cannot be resolved",
    EAI_AGAIN: "the host cannot be resolved at the moment",
    ECONNREFUSED: "the connection was refused",
    ECONNRESET: "the connection broke",
    EHOSTUNREACH: "the host cannot be reached",
    ENETUNREACH: "the host cannot be reached",
    ETIMEDOUT: "no connection in time",
    HPE_HEADER_OVERFLOW: "the answer's headers are too large",
    EPROTO: "the TLS handshake failed; is it plain http?",
  };
  if (CERTIFICATE_PROBLEM.test(code ?? "")) return `the certificate cannot be trusted (${message}, ${code})`;
  return known[code ?? ""] ?? (code?.startsWith("HPE_") ? "the answer is not HTTP" : message);
}
