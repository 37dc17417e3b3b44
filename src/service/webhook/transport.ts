import { lookup, type LookupAddress } from "node:dns";
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
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
  /** Addresses of this server, which must not receive events. */
  readonly own: () => readonly string[];
  readonly resolve?: Resolve;
}

export interface Destination extends WebhookReach {
  readonly url: string;
}

export const TIMEOUT_MS = 15_000;
const BODY_BYTES_MAX = 4_096;
const LOGGED_BYTES_MAX = 1_024;
const IDLE_MS = 30_000;

export class EndpointTransport {
  readonly #options: EndpointOptions;
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;

  constructor(options: EndpointOptions, connections: number) {
    const settings = { keepAlive: true, maxSockets: connections, timeout: IDLE_MS };
    this.#options = options;
    this.#http = new HttpAgent(settings);
    this.#https = new HttpsAgent(settings);
  }

  /** Never throws: errors are results. Null if `signal` was aborted. */
  async post(
    target: Destination,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<AttemptEnd | null> {
    const { clock, own } = this.#options;
    const startedMs = clock.monotonic();
    const end = (status: number | null, text: string, retryAfter: number | null = null): AttemptEnd => ({
      status,
      text,
      retryAfter,
      ms: clock.monotonic() - startedMs,
    });
    const refusal = refuseUrl(target.url, target, own());
    if (refusal !== null) return end(null, refusal.message);
    const timer = startDeadline(clock, TIMEOUT_MS, signal);
    try {
      const answer = await this.#exchange(target, headers, body, timer.signal);
      return end(answer.status, loggedText(new URL(target.url), answer), retryAfterSeconds(answer.retryAfter, clock));
    } catch (error) {
      if (signal.aborted) return null;
      return end(null, timer.isOver() ? `no answer within ${TIMEOUT_MS / 1000} s` : describeHttpFailure(error));
    } finally {
      timer.stop();
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  async #exchange(
    target: Destination,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
    mayRepeat = true,
  ): Promise<AnswerStart> {
    const url = new URL(target.url);
    const isTls = url.protocol === "https:";
    const request = (isTls ? requestHttps : requestHttp)(url, {
      method: "POST",
      headers: { ...headers, accept: "*/*", "content-length": Buffer.byteLength(body) },
      agent: isTls ? this.#https : this.#http,
      lookup: checkedLookup(url, target, this.#options.resolve ?? resolveName),
      signal,
    });
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request.on("error", reject).on("response", resolve).end(body);
      });
      return await readAnswerStart(response, request, BODY_BYTES_MAX);
    } catch (error) {
      // The endpoint had already closed the kept-alive connection, so the request didn't arrive.
      const isStale = request.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (isStale && mayRepeat) return this.#exchange(target, headers, body, signal, false);
      throw error;
    }
  }
}

function loggedText(url: URL, { status, bytes, location }: AnswerStart): string {
  const isRedirect = status >= 300 && status < 400 && location !== undefined;
  const logged = isRedirect ? Buffer.from(redirectText(url, location)) : bytes;
  return logged.subarray(0, LOGGED_BYTES_MAX).toString("utf8").replaceAll("\0", "\uFFFD");
}

function redirectText(url: URL, location: string): string {
  const target = URL.canParse(location, url.href) ? new URL(location, url).href : location;
  return `redirected to ${target}; webhooks follow no redirects: add one for that address`;
}

/** The connection uses the checked addresses, so DNS can't change in between. */
export function checkedLookup(url: URL, reach: WebhookReach, resolve: Resolve): LookupFunction {
  const check = async (hostname: string): Promise<readonly LookupAddress[]> => {
    const addresses = await resolve(hostname);
    if (addresses.length === 0) throw new Error(`${hostname} has no address`);
    const refusal = addresses.map(({ address }) => refuseAddress(address, url, reach)).find((one) => one !== null);
    if (refusal !== undefined) throw new Error(refusal.message);
    return addresses;
  };
  return (hostname, { all }, callback) => {
    callbackify(check)(hostname, (error, addresses) => {
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
