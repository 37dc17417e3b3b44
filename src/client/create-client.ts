import type { Exchange, HttpRequest } from "../contract/http.ts";
import { HAVE_ANSWERS, ROUTES } from "../contract/routes.ts";
import { Caller, type CallerOptions } from "./call/caller.ts";
import type { ApiReply, Client, LookUpOptions } from "./client.ts";
import { lookUpPerson, lookUpResponse, type LookUp } from "./write/look-up.ts";
import type { Settlement } from "./write/evidence.ts";
import { settle } from "./write/settling.ts";
import { nextPageUrl, listPages } from "./pages.ts";
import { type AnswerText, readListReply, readObjectReply, readTextReply } from "./answer/reply.ts";
import { mayHaveArrived, UnknownOutcomeError } from "./errors/call-errors.ts";
import { Requests, type RouteCall } from "./requests.ts";
import type { Redact } from "./trace/redact.ts";
import { createWriteMethods } from "./write/write-methods.ts";

export interface ClientOptions extends CallerOptions {
  /** The caller checks whether plain `http:` is allowed. */
  readonly baseUrl: string;
  readonly transport: Exchange & { close?(): Promise<void> };
  /** Milliseconds that a write without a response may still be running; 30 seconds by default. */
  readonly settleMs?: number;
}

const SETTLE_MS = 30_000;

/** Every method rejects with a `ClientError`, or with the signal's reason. */
export function createClient(options: ClientOptions): Client {
  const { clock, transport, onWait, settleMs = SETTLE_MS } = options;
  const requests = new Requests(options.baseUrl, options.apiKey);
  const caller = new Caller(options);
  const { serverClock } = caller;
  const readReply = async (call: RouteCall): Promise<ApiReply> =>
    await caller.get(requests.ofRoute(call), call.route.idempotent, readObjectReply);
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
    ...createWriteMethods({ caller, requests, pages, clock, settleMs, onWait }),
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
    raw: async ({ method, url, body, signal }) => await callRaw(caller, requests.ofUrl(method, url, body, signal)),
    close: async () => await transport.close?.(),
  };
}

type PageMethods = Pick<
  Client,
  "baseUrl" | "page" | "listPeople" | "listResponses" | "listBounces" | "listUnsubscribes" | "listMembers"
>;

function createPageMethods(caller: Caller, requests: Requests): PageMethods {
  const page: Client["page"] = async ({ next, signal, ...call }) => {
    const request =
      next === undefined ? requests.ofRoute({ ...call, signal }) : requests.ofUrl("GET", next, undefined, signal);
    const { rows, answer } = await caller.get(request, true, readListReply);
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

const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

/** Throws for a redirect, or if there is no response. */
async function callRaw(caller: Caller, request: HttpRequest): ReturnType<Client["raw"]> {
  const isRepeatable = REPEATABLE.has(request.method);
  const outcome = await caller.run(request, isRepeatable, readTextReply);
  if (outcome.kind === "answered") return { ...withoutKey(outcome.value, caller.redactAnswer), failure: null };
  const { answer, error } = outcome;
  if (answer !== null && answer.status >= 300 && answer.status < 400) throw error;
  const failure = !isRepeatable && mayHaveArrived(error) ? new UnknownOutcomeError(error, null) : error;
  if (answer === null) throw failure;
  return { ...withoutKey(answer, caller.redactAnswer), failure };
}

function withoutKey({ text, headers, ...rest }: AnswerText, redactAnswer: Redact): AnswerText {
  const shown = Object.entries(headers).map(([name, value]) => [name, redactAnswer(value)]);
  return { ...rest, headers: Object.fromEntries(shown) as Record<string, string>, text: redactAnswer(text) };
}
