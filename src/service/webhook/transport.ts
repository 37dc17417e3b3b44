/** One POST to an endpoint, without redirects or proxies, and only to allowed addresses. */
import { lookup, type LookupAddress } from "node:dns";
import { Agent as HttpAgent, request as requestHttp, type ClientRequest } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { callbackify } from "node:util";
import type { Clock } from "../../runtime/clock.ts";
import {
  type AnswerStart,
  describeHttpFailure,
  retryAfterSeconds,
  readAnswerStart,
  startDeadline,
} from "../../runtime/http-exchange.ts";
import { refuseAddress, refuseUrl, type WebhookReach } from "../domain/webhooks/addresses.ts";
import type { AttemptEnd } from "../domain/webhooks/attempts.ts";

export type Resolve = (name: string) => Promise<readonly LookupAddress[]>;

export interface EndpointOptions {
  readonly clock: Clock;
  /** Addresses of this server, which may not receive events. */
  readonly own: () => readonly string[];
  readonly resolve?: Resolve;
}

interface Destination extends WebhookReach {
  readonly url: string;
}

/** Each endpoint has its own connections, so that none waits for another. */
export interface EndpointTransport {
  /** Never throws: errors are results. Null if `signal` ended it. */
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

class RefusedAddressError extends Error {
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
      const refusal = refuseUrl(target.url, target, options.own());
      if (refusal !== null) return end(null, refusal.message);
      const timer = startDeadline(clock, TIMEOUT_MS, signal);
      const send = (): Promise<Answer> => exchange(target, { headers, body, agents, options }, timer.signal);
      try {
        const { status, text, retryAfter } = await send().catch((error) => againWhenStale(error, send));
        return end(status, text, retryAfterSeconds(retryAfter, clock));
      } catch (error) {
        if (signal.aborted) return null;
        return end(null, timer.isOver() ? `no answer within ${TIMEOUT_MS / 1000} s` : describeHttpFailure(error));
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
  readonly text: string;
  readonly retryAfter: string | undefined;
}

/** The other side had closed a kept-alive connection, so the request didn't arrive. */
class StaleConnectionError extends Error {
  override readonly name = "StaleConnectionError";
}

async function againWhenStale(error: unknown, send: () => Promise<Answer>): Promise<Answer> {
  if (error instanceof StaleConnectionError) return send();
  throw error;
}

interface PendingPost {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly agents: { readonly http: HttpAgent; readonly https: HttpsAgent };
  readonly options: EndpointOptions;
}

function exchange(
  target: Destination,
  { headers, body, agents, options }: PendingPost,
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
      void readAnswerStart(response, request, BODY_BYTES_MAX).then((start) => resolve(toAnswer(url, start)), reject);
    });
    request.end(body);
  });
}

function toAnswer(url: URL, { status, bytes, retryAfter, location }: AnswerStart): Answer {
  const isRedirect = status >= 300 && status < 400 && location !== undefined;
  const logged = isRedirect ? Buffer.from(redirectText(url, location)) : bytes;
  const text = logged.subarray(0, LOGGED_BYTES_MAX).toString("utf8");
  return { status, text: text.replaceAll("\0", "\uFFFD"), retryAfter };
}

/** Logged instead of the body, which rarely says more. */
function redirectText(url: URL, location: string): string {
  const target = URL.canParse(location, url.href) ? new URL(location, url).href : location;
  return `redirected to ${target}; webhooks follow no redirects: add one for that address`;
}

/**
 * Resolves a name and refuses it unless every address is allowed. The checked addresses are the ones used, so DNS can't
 * change in between. `autoSelectFamily` asks for all of them.
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
