import type { Exchange, HttpRequest, HttpResponse } from "../../contract/http.ts";
import { CONCURRENCY_DEFAULT } from "../../contract/limits.ts";
import type { Clock } from "../../runtime/clock.ts";
import { systemRandom, type Random } from "../../runtime/random.ts";
import { readAnswer, type AnswerText, type ReplyReader } from "../answer/reply.ts";
import { errorForStatus, readErrorText } from "../answer/status-error.ts";
import { BadReplyError, ConnectionError, mayHaveArrived, TimeoutError } from "../errors/call-errors.ts";
import { ClientError, nameCall, type Origin } from "../errors/client-error.ts";
import { Gate, type Permit } from "../gate/gate.ts";
import { createEchoRedactor, createRedactor, type Redact } from "../trace/redact.ts";
import { redactEvent, type OnWait, type Trace, type Wait } from "../trace/trace.ts";
import { createServerClock, type ServerClock } from "../write/settling.ts";
import { followRedirect } from "./redirects.ts";
import {
  decide,
  type Failure,
  readRetryAfter,
  RETRY_LIMITS,
  type RetryDecision,
  type RetryLimits,
} from "./retry-policy.ts";

export interface CallerOptions {
  readonly apiKey: string;
  /** Other secrets to remove from errors and traces, such as a proxy's credentials. */
  readonly secrets?: readonly string[];
  readonly transport: Exchange;
  readonly clock: Clock;
  readonly random?: Random;
  /** Defaults to 5 retries and 5 minutes. */
  readonly policy?: Partial<RetryLimits>;
  /** Defaults to 8 concurrent requests. */
  readonly gate?: Gate;
  readonly trace?: Trace;
  readonly onWait?: OnWait;
  readonly origin?: Origin;
}

export type CallOutcome<T> =
  | { readonly kind: "answered"; readonly value: T; readonly lostBefore: boolean }
  | {
      readonly kind: "given-up";
      readonly error: ClientError;
      readonly answer: AnswerText | null;
      /** An earlier attempt may have reached the server. */
      readonly lostBefore: boolean;
    };

/** `answer` is set for statuses outside 2xx. */
type Attempt<T> =
  | { readonly kind: "answered"; readonly value: T; readonly serverTime: number | null }
  | {
      readonly kind: "failed";
      readonly failure: Failure;
      readonly error: ClientError;
      readonly answer: AnswerText | null;
    };

export class Caller {
  readonly serverClock: ServerClock;
  /** For bodies that are used as data: redacts only the API key. */
  readonly redactAnswer: Redact;
  readonly #redact: Redact;
  readonly #options: CallerOptions;
  readonly #gate: Gate;
  readonly #random: Random;
  readonly #limits: RetryLimits;
  #attempts = 0;

  constructor(options: CallerOptions) {
    const { clock, apiKey, secrets = [] } = options;
    this.#options = options;
    this.#gate = options.gate ?? new Gate({ clock, concurrency: CONCURRENCY_DEFAULT });
    this.#random = options.random ?? systemRandom;
    this.#limits = { ...RETRY_LIMITS, ...options.policy };
    this.#redact = createRedactor([apiKey, ...secrets]);
    this.redactAnswer = createEchoRedactor(apiKey);
    this.serverClock = createServerClock(clock);
  }

  /**
   * Makes one call with its retries. Returns failures instead of throwing them, because some callers still use the
   * response.
   */
  async run<T>(first: HttpRequest, idempotent: boolean, read: ReplyReader<T>): Promise<CallOutcome<T>> {
    let request = first;
    let tries = 0;
    let lostBefore = false;
    const trail: string[] = [];
    for (;;) {
      const permit = await this.#gate.enter(request.signal);
      const result = await this.#attempt(request, read).catch((error: unknown) => {
        permit.end({ kind: "failed" });
        throw error;
      });
      tries += 1;
      if (result.kind === "answered") {
        permit.end({ kind: "accepted" });
        if (result.serverTime !== null) this.serverClock.learn(result.serverTime);
        return { kind: "answered", value: result.value, lostBefore };
      }
      const { failure, error, answer } = result;
      const fraction = this.#random.fraction();
      const decision = decide({ ...this.#limits, failure, idempotent, tries, fraction });
      const isNews = endPermit(permit, failure, decision, this.#limits);
      if (decision.action === "retry") {
        lostBefore ||= mayHaveArrived(error);
        await this.#wait(request, error, decision.waitMs, tries, isNews);
        continue;
      }
      error.tries = tries;
      error.origin = this.#options.origin ?? null;
      const followed = followRedirect(request, result, trail);
      if (followed === null) return { kind: "given-up", error, answer, lostBefore };
      trail.push(request.url);
      [request, tries] = [followed, 0];
    }
  }

  async get<T>(request: HttpRequest, idempotent: boolean, read: ReplyReader<T>): Promise<T> {
    const outcome = await this.run(request, idempotent, read);
    if (outcome.kind === "answered") return outcome.value;
    throw outcome.error;
  }

  /** Throws only on an abort or a bug. */
  async #attempt<T>(request: HttpRequest, read: ReplyReader<T>): Promise<Attempt<T>> {
    const { clock, transport } = this.#options;
    const { url, method, headers, body } = request;
    this.#attempts += 1;
    const number = this.#attempts;
    const startedAt = clock.monotonic();
    const durationMs = (): number => clock.monotonic() - startedAt;
    this.#trace({ kind: "request", number, method, url, headers, body: typeof body === "string" ? body : null });
    const seen = ({ status, headers: theirs }: HttpResponse, text: string | null): void =>
      this.#trace({ kind: "response", number, status, headers: theirs, durationMs: durationMs(), body: text });
    try {
      return await this.#readResponse(request, await transport(request), read, seen);
    } catch (error) {
      request.signal?.throwIfAborted();
      if (!(error instanceof ClientError)) throw error;
      this.#trace({ kind: "failure", number, message: error.message, durationMs: durationMs() });
      return { kind: "failed", failure: failureOf(error), error, answer: null };
    }
  }

  #trace(event: Parameters<Trace>[0]): void {
    this.#options.trace?.(redactEvent(event, this.#redact));
  }

  async #readResponse<T>(
    { method, url, signal }: HttpRequest,
    response: HttpResponse,
    read: ReplyReader<T>,
    seen: (response: HttpResponse, body: string | null) => void,
  ): Promise<Attempt<T>> {
    const { status, headers } = response;
    const context = { call: nameCall(method, url), redact: this.#redact, redactAnswer: this.redactAnswer, signal };
    if (status >= 200 && status < 300) {
      const answer = await readAnswer(response, context).catch((error: unknown) => {
        seen(response, null);
        throw error;
      });
      seen(response, answer.text);
      return { kind: "answered", value: read(answer, context), serverTime: answer.serverTime };
    }
    const text = await readErrorText(response, context);
    seen(response, text);
    const retryAfterMs = readRetryAfter(headers, this.#options.clock.now());
    return {
      kind: "failed",
      failure: { kind: "status", status, retryAfterMs },
      error: errorForStatus(response, text, retryAfterMs, context),
      answer: { status, headers, text, serverTime: null },
    };
  }

  async #wait(
    { signal }: HttpRequest,
    error: ClientError,
    waitMs: number,
    tries: number,
    isNews: boolean,
  ): Promise<void> {
    const repeatsMax = error instanceof ConnectionError ? error.repeatsMax : Infinity;
    const retries = Math.min(this.#limits.retries, repeatsMax);
    const { clock, onWait } = this.#options;
    const over = onWait?.({ kind: "retry", ...waitFacts(error, waitMs), isNews, repeat: tries, retries });
    await clock.sleep(waitMs, signal).finally(() => over?.());
  }
}

export function waitFacts(
  { what, code, status }: ClientError,
  waitMs: number,
): Pick<Wait, "waitMs" | "reason" | "cause"> {
  return { waitMs, reason: what, cause: status === null ? what : `${code} ${status}` };
}

/** Ends the permit. Returns whether to announce the wait that follows; each pause is announced only once. */
function endPermit(permit: Permit, failure: Failure, decision: RetryDecision, limits: RetryLimits): boolean {
  if (failure.kind !== "status") {
    permit.end({ kind: "failed" });
    return true;
  }
  if (failure.status !== 429 && failure.status !== 503) {
    permit.end({ kind: failure.status < 500 ? "accepted" : "failed" });
    return true;
  }
  const asked = failure.retryAfterMs ?? (failure.status === 429 && decision.action === "retry" ? decision.waitMs : 0);
  return permit.end({ kind: "throttled", pauseMs: Math.min(asked, limits.maxWaitMs), rate: failure.status === 429 });
}

function failureOf(error: ClientError): Failure {
  if (error instanceof BadReplyError) return { kind: error.cutShort ? "lost" : "unreadable" };
  if (error instanceof ConnectionError && error.sent === "no")
    return { kind: "not-sent", repeatsMax: error.repeatsMax };
  if (error instanceof TimeoutError && error.sent === "no") return { kind: "not-sent", repeatsMax: Infinity };
  const isPassing = error instanceof TimeoutError || (error instanceof ConnectionError && error.repeatsMax > 0);
  return { kind: isPassing ? "lost" : "unreadable" };
}
