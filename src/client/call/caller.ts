import type { Exchange, HttpRequest } from "../../contract/http.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Random } from "../../runtime/random.ts";
import { attempt, type Attempt } from "./attempt.ts";
import type { ClientError, Origin } from "../errors/client-error.ts";
import { ConnectionError, mayHaveArrived, UnknownOutcomeError } from "../errors/call-errors.ts";
import type { Gate, Permit } from "../gate/gate.ts";
import { type AnswerText, type ReplyReader, readTextReply } from "../answer/reply.ts";
import type { Redact } from "../trace/redact.ts";
import { followRedirect } from "./redirects.ts";
import { decide, type RetryDecision, type Failure, type RetryLimits } from "./retry-policy.ts";
import type { OnWait, Trace } from "../trace/trace.ts";
import type { Client } from "../client.ts";

export interface CallerOptions {
  readonly transport: Exchange;
  readonly clock: Clock;
  readonly random: Random;
  readonly gate: Gate;
  readonly limits: RetryLimits;
  readonly redact: Redact;
  readonly redactAnswer: Redact;
  readonly trace: Trace | undefined;
  readonly onWait: OnWait | undefined;
  readonly origin: Origin | null;
  readonly serverClock: { learn(serverTime: number): void };
}

export type CallOutcome<T> =
  | { readonly kind: "answered"; readonly value: T; readonly lostBefore: boolean }
  | {
      readonly kind: "given-up";
      readonly error: ClientError;
      readonly answer: AnswerText | null;
      /** An earlier attempt may have arrived. */
      readonly lostBefore: boolean;
    };

export interface RequestCaller {
  /** One call with its retries; giving up is a value, since some callers still use the answer. */
  run<T>(request: HttpRequest, idempotent: boolean, read: ReplyReader<T>): Promise<CallOutcome<T>>;
}

interface Progress {
  readonly tries: number;
  readonly lostBefore: boolean;
  /** The URLs that redirected here. */
  readonly trail?: readonly string[];
}

/** Gate, exchange, retry policy: every request of the program passes here. */
export function createCaller(options: CallerOptions): RequestCaller {
  let exchanges = 0;

  async function run<T>(
    request: HttpRequest,
    idempotent: boolean,
    read: ReplyReader<T>,
    before: Progress,
  ): Promise<CallOutcome<T>> {
    let { tries, lostBefore } = before;
    for (;;) {
      const permit = await options.gate.enter(request.signal);
      exchanges += 1;
      const result = await withPermit(permit, attempt(request, read, exchanges, options));
      tries += 1;
      if (result.kind === "answered") {
        permit.end({ kind: "accepted" });
        if (result.serverTime !== null) options.serverClock.learn(result.serverTime);
        return { kind: "answered", value: result.value, lostBefore };
      }
      const fraction = options.random.fraction();
      const decision = decide({ ...options.limits, failure: result.failure, idempotent, tries, fraction });
      const isNews = endPermit(permit, result.failure, decision, options.limits);
      const { error, answer } = result;
      if (decision.action === "give-up") {
        error.tries = tries;
        error.origin = options.origin;
        const { trail = [] } = before;
        const followed = followRedirect(request, result, trail);
        if (followed === null) return { kind: "given-up", error, answer, lostBefore };
        return await run(followed, idempotent, read, { tries: 0, lostBefore, trail: [...trail, request.url] });
      }
      lostBefore ||= mayHaveArrived(error);
      await wait(request, decision.waitMs, error, tries, isNews);
    }
  }

  async function wait(
    request: HttpRequest,
    waitMs: number,
    error: ClientError,
    tries: number,
    isNews: boolean,
  ): Promise<void> {
    const retries = retriesOf(error, options.limits);
    const over = options.onWait?.({ kind: "retry", ...waitFacts(error, waitMs), isNews, repeat: tries, retries });
    await options.clock.sleep(waitMs, request.signal).finally(() => over?.());
  }

  return {
    run: async (request, idempotent, read) => await run(request, idempotent, read, { tries: 0, lostBefore: false }),
  };
}

export function waitFacts(
  { what, call, code, status }: ClientError,
  waitMs: number,
): { method: string; url: string; waitMs: number; reason: string; cause: string } {
  const cause = status === null ? what : `${code} ${status}`;
  return { method: call.method, url: call.url, waitMs, reason: what, cause };
}

function retriesOf(error: ClientError, { retries }: RetryLimits): number {
  return error instanceof ConnectionError ? Math.min(retries, error.repeatsMax) : retries;
}

async function withPermit<T>(permit: Permit, running: Promise<Attempt<T>>): Promise<Attempt<T>> {
  try {
    return await running;
  } catch (error) {
    permit.end({ kind: "failed" });
    throw error;
  }
}

/** Returns true if the wait that follows should be announced: once per pause. */
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

/** Idempotent methods, RFC 9110. */
const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

/** Any call, with its answer unchanged except for the key. Throws if no answer came, and for a redirect. */
export async function callRaw(
  caller: RequestCaller,
  request: HttpRequest,
  redactAnswer: Redact,
): ReturnType<Client["raw"]> {
  const outcome = await caller.run(request, REPEATABLE.has(request.method), readTextReply);
  if (outcome.kind === "answered") return { ...withoutKey(outcome.value, redactAnswer), failure: null };
  const { answer, error } = outcome;
  if (answer !== null && answer.status >= 300 && answer.status < 400) throw error;
  // There is no look-up for raw writes.
  const isUnknown = !REPEATABLE.has(request.method) && mayHaveArrived(error);
  const failure = isUnknown ? new UnknownOutcomeError(error, null) : error;
  if (answer === null) throw failure;
  return { ...withoutKey(answer, redactAnswer), failure };
}

function withoutKey({ text, headers, ...rest }: AnswerText, redactAnswer: Redact): AnswerText {
  const shown = Object.entries(headers).map(([name, value]) => [name, redactAnswer(value)]);
  return { ...rest, headers: Object.fromEntries(shown) as Record<string, string>, text: redactAnswer(text) };
}
