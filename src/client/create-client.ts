import type { Exchange } from "../contract/http.ts";
import { HAVE_ANSWERS, ROUTES } from "../contract/routes.ts";
import type { Clock } from "../runtime/clock.ts";
import { systemRandom, type Random } from "../runtime/random.ts";
import { createCaller, type RequestCaller, type CallOutcome, callRaw } from "./call/caller.ts";
import type { Origin } from "./errors/client-error.ts";
import type { Client, LookUpOptions, ApiReply } from "./client.ts";
import { Gate } from "./gate/gate.ts";
import { lookUpPerson, lookUpResponse, type LookUp } from "./write/look-up.ts";
import type { Settlement } from "./write/evidence.ts";
import { settle, createServerClock } from "./write/settling.ts";
import { nextPageUrl, listPages } from "./pages.ts";
import { createEchoRedactor, createRedactor } from "./trace/redact.ts";
import { readListReply, readObjectReply } from "./answer/reply.ts";
import { createRequests, type RouteCall } from "./requests.ts";
import { RETRY_LIMITS, type RetryLimits } from "./call/retry-policy.ts";
import { redactEvent, type OnWait, type Trace } from "./trace/trace.ts";
import { createWriteMethods } from "./write/write-methods.ts";

export interface ClientOptions {
  /** Paths of the specification are appended. The caller checks whether plain `http:` is allowed. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Further secrets to keep out of errors and traces, such as a proxy's credentials. */
  readonly secrets?: readonly string[];
  readonly transport: Exchange & { close?(): Promise<void> };
  readonly clock: Clock;
  readonly random?: Random;
  /** Defaults: 5 retries, 5 minutes. */
  readonly policy?: Partial<RetryLimits>;
  /** Default: 8 concurrent requests. */
  readonly gate?: Gate;
  readonly trace?: Trace;
  readonly onWait?: OnWait;
  /** Named in errors about the address or the key. */
  readonly origin?: Origin;
  /** How long a write whose answer was lost may still be running, in milliseconds; 30 seconds by default. */
  readonly settleMs?: number;
}

const CONCURRENCY_DEFAULT = 8;
const SETTLE_MS = 30_000;

/** Every method rejects with a `ClientError`, or with the signal's reason. */
export function createClient(options: ClientOptions): Client {
  const { clock, transport, trace, onWait, settleMs = SETTLE_MS } = options;
  const redact = createRedactor([options.apiKey, ...(options.secrets ?? [])]);
  const redactAnswer = createEchoRedactor(options.apiKey);
  const requests = createRequests(options.baseUrl, options.apiKey);
  const serverClock = createServerClock(clock);
  const caller = createCaller({
    transport,
    clock,
    random: options.random ?? systemRandom,
    gate: options.gate ?? new Gate({ clock, concurrency: CONCURRENCY_DEFAULT }),
    limits: { ...RETRY_LIMITS, ...options.policy },
    redact,
    redactAnswer,
    trace: trace === undefined ? undefined : (event) => trace(redactEvent(event, redact)),
    onWait,
    origin: options.origin ?? null,
    serverClock,
  });
  const readReply = async (call: RouteCall): Promise<ApiReply> => {
    return valueOf(await caller.run(requests.ofRoute(call), call.route.idempotent, readObjectReply));
  };
  const pages = createPageMethods(caller, requests);
  const lookUpAgain = async (
    look: (lookUp: LookUp) => Promise<Settlement>,
    { intentAt, sentBy = intentAt, signal }: LookUpOptions,
  ): Promise<Settlement> => {
    const leftMs = (sentBy - serverClock.now()) * 1000 + settleMs;
    const lookUp = { client: pages, intentAt: () => intentAt, signal };
    return await settle(() => look(lookUp), { clock, signal, settleMs: Math.min(leftMs, settleMs) });
  };

  return {
    ...pages,
    ...createWriteMethods({ caller, requests, pages, serverClock, clock, settleMs, onWait }),
    checkMayWrite: () => requests.checkMethod("POST", requests.baseUrl),
    call: readReply,
    getMetrics: async (parameters, { signal } = {}) =>
      await readReply({ route: ROUTES.getMetrics, parameters, signal }),
    getAutopilot: async (platform, { signal } = {}) =>
      await readReply({ route: ROUTES.getAutopilot, placeholders: { platform }, signal }),
    getResponse: async (id, parameters, { signal } = {}) =>
      await readReply({ route: ROUTES.getResponse, placeholders: { id }, parameters, signal }),
    lookUpPerson: async (body, rest) => await lookUpAgain((lookUp) => lookUpPerson(body, lookUp), rest),
    lookUpResponse: async (body, rest) => await lookUpAgain((lookUp) => lookUpResponse(body, lookUp), rest),
    serverNow: serverClock.now,
    raw: async ({ method, url, body, signal }) =>
      await callRaw(caller, requests.ofUrl(method, url, body, signal), redactAnswer),
    close: async () => await transport.close?.(),
  };
}

type PageMethods = Pick<
  Client,
  "baseUrl" | "page" | "listPeople" | "listResponses" | "listBounces" | "listUnsubscribes" | "listMembers"
>;

function createPageMethods(caller: RequestCaller, requests: ReturnType<typeof createRequests>): PageMethods {
  const page: Client["page"] = async ({ next, signal, ...call }) => {
    const request =
      next === undefined ? requests.ofRoute({ ...call, signal }) : requests.ofUrl("GET", next, undefined, signal);
    const { rows, answer } = valueOf(await caller.run(request, true, readListReply));
    const cursor = call.route.pagination === "cursor" ? answer.headers["link"] : undefined;
    return {
      rows,
      text: answer.text,
      next: nextPageUrl(cursor, request.url, requests.origin),
      serverTime: answer.serverTime,
      headers: answer.headers,
      ...(Object.keys(HAVE_ANSWERS).some((name) => name in answer.headers) && { hasAnswers: true }),
    };
  };
  const client = { baseUrl: requests.baseUrl, page };
  return {
    ...client,
    listPeople: (parameters, rest) => listPages(client, { route: ROUTES.listPeople, parameters, ...rest }),
    listResponses: (parameters, rest) => listPages(client, { route: ROUTES.listResponses, parameters, ...rest }),
    listBounces: (parameters, rest) => listPages(client, { route: ROUTES.listBounces, parameters, ...rest }),
    listUnsubscribes: (parameters, rest) => listPages(client, { route: ROUTES.listUnsubscribes, parameters, ...rest }),
    listMembers: (platform, parameters, rest) =>
      listPages(client, { route: ROUTES.listMembers, placeholders: { platform }, parameters, ...rest }),
  };
}

function valueOf<T>(outcome: CallOutcome<T>): T {
  if (outcome.kind === "answered") return outcome.value;
  throw outcome.error;
}
