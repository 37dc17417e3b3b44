/** A whole service in memory, with a manual clock and one API key, `KEY`. It only opens a port for `listen`. */
import { describeOperations } from "../../../src/service/operations/index.ts";
import { connect } from "node:net";
import type { HttpResponse } from "../../../src/contract/http.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import { createLog } from "../../../src/runtime/log.ts";
import { type Random, systemRandom } from "../../../src/runtime/random.ts";
import { addKey } from "../../../src/service/domain/projects/projects.ts";
import { KeyRing } from "../../../src/service/http/authentication.ts";
import { HttpService } from "../../../src/service/http/http-service.ts";
import type { RateLimit } from "../../../src/service/http/rate-limit.ts";
import { listen, type Listening } from "../../../src/service/http/server.ts";
import { openFixture, type Fixture, type StoreEngine } from "../domain/fixture.ts";

export const KEY = "key-of-the-tests";
export const BASIC = `Basic ${Buffer.from(`${KEY}:`).toString("base64")}`;
export const ORIGIN = "http://survey.test:8080";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly json: unknown;
}

export interface HttpFixture extends Fixture {
  readonly service: HttpService;
  readonly logged: () => Record<string, unknown>[];
  readonly state: { ready: boolean; readonly scheduled: (number | undefined)[] };
  /** Calls the service in process. Adds the key unless `headers` has an `authorization`. */
  call(
    method: string,
    path: string,
    options?: { headers?: Record<string, string>; body?: unknown; origin?: string },
  ): Promise<Answer>;
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<Record<string, unknown>>;
}

export async function openHttp(
  options: {
    rateLimit?: RateLimit;
    publicUrl?: string;
    metricsToken?: string;
    engine?: StoreEngine;
    random?: Random;
    onStatement?: () => void;
  } = {},
): Promise<HttpFixture> {
  const fixture = await openFixture(options);
  await fixture.write((tx) => addKey(tx, fixture.project, KEY));
  const lines: string[] = [];
  const state = { ready: true, scheduled: [] as (number | undefined)[] };
  const clock: Clock = {
    now: () => fixture.time.now * 1000,
    monotonic: () => fixture.time.now * 1000,
    // Nothing in these tests depends on a timeout.
    sleep: () => new Promise(() => undefined),
  };
  const log = createLog(async (text) => void lines.push(text), clock);
  const { random = systemRandom } = options;
  const keys = new KeyRing(fixture.store, clock, options.rateLimit ?? null);
  const service = new HttpService({
    store: fixture.store,
    clock,
    random,
    log,
    rateLimit: options.rateLimit ?? null,
    publicUrl: options.publicUrl ?? null,
    metricsToken: options.metricsToken ?? null,
    wake: (dueAt) => void state.scheduled.push(dueAt),
    outboxChannels: [],
    moreMetrics: () => Promise.resolve([]),
    isReady: () => state.ready,
    keys,
    administration: async () => ({ list: describeOperations, has: () => false, call: () => null }),
    handlers: [],
  });
  const call: HttpFixture["call"] = async (method, path, { headers = {}, body, origin = ORIGIN } = {}) => {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const type: Record<string, string> =
      body === undefined || typeof body === "string" ? {} : { "content-type": "application/json" };
    const response = await service.handle({
      method,
      url: origin + path,
      headers: { authorization: BASIC, ...type, ...headers },
      ...(text === undefined ? {} : { body: text }),
    });
    return toAnswer(response);
  };
  return {
    ...fixture,
    service,
    state,
    logged: () => {
      log.flush();
      return lines
        .join("")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    call,
    get: async (path) => worked(await call("GET", path)).json,
    post: async (path, body) => worked(await call("POST", path, { body })).json as Record<string, unknown>,
  };
}

function worked(answer: Answer): Answer {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}

function toAnswer({ status, headers, body }: HttpResponse): Answer {
  const text = typeof body === "string" ? body : "";
  return { status, headers, text, json: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : null };
}

export function listenTo(fixture: HttpFixture): Promise<Listening> {
  return listen(fixture.service, { host: "127.0.0.1", port: 0, tls: null });
}

/** Sends raw bytes and reads until the server closes, so the request needs `Connection: close`. */
export function sendRaw(url: string, text: string | readonly (string | Uint8Array)[]): Promise<string> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1");
    let received = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (received += chunk));
    socket.on("error", (error) => (received === "" ? reject(error) : resolve(received)));
    socket.on("close", () => resolve(received));
    for (const part of typeof text === "string" ? [text] : text) socket.write(part);
  });
}

export function rawRequest(url: string, line: string, headers: readonly string[], body?: string): string {
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [
    `${line} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    ...headers,
    ...length,
    "Connection: close",
    "",
    body ?? "",
  ].join("\r\n");
}

export function parseRaw(text: string): Answer {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const body = rest.join("\r\n\r\n");
  return {
    status: Number(first.split(" ")[1]),
    headers,
    text: body,
    json: /^[[{]/.test(body) ? JSON.parse(body) : null,
  };
}
