import type { Exchange, HttpRequest } from "../../contract/http.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Random } from "../../runtime/random.ts";
import { attempt, type Attempt, type AttemptOptions } from "./attempt.ts";
import type { ClientError } from "../errors/client-error.ts";
import type { Gate, Turn } from "../gate/gate.ts";
import type { Answer, Reader } from "../answer/reply.ts";
import type { Redact } from "../trace/redact.ts";
import { followRedirect } from "./redirects.ts";
import { decide, repeat, type Decision, type Failure, type RetryFacts, type RetryLimits } from "./retry-policy.ts";
import type { Trace, Wait } from "../trace/trace-event.ts";

export interface CallerOptions {
  readonly transport: Exchange;
  readonly clock: Clock;
  readonly random: Random;
  readonly gate: Gate;
  readonly limits: RetryLimits;
  readonly redact: Redact;
  readonly redactAnswer: Redact;
  readonly trace: Trace | undefined;
  readonly onWait: ((wait: Wait) => void) | undefined;
  /** Told the service's clock, Unix seconds, with each answer that carries it. */
  readonly onServerTime: (serverTime: number) => void;
}

/** How a call ended, its repeats included. */
export type Outcome<T> =
  | { readonly kind: "answered"; readonly value: T; readonly lostBefore: boolean }
  /** A write that may have arrived; `goOn` makes the next try once a look-up proved that it did not. */
  | {
      readonly kind: "lost";
      readonly error: ClientError;
      readonly answer: Answer | null;
      readonly goOn: () => Promise<Outcome<T>>;
    }
  | {
      readonly kind: "given-up";
      readonly error: ClientError;
      readonly answer: Answer | null;
      readonly lostBefore: boolean;
    };

export interface Caller {
  /** One call with its repeats; `given-up` comes back as a value, since some callers still use what came. */
  run<T>(request: HttpRequest, idempotent: boolean, read: Reader<T>): Promise<Outcome<T>>;
}

interface Progress {
  readonly tries: number;
  /** An earlier try may have arrived. */
  readonly lostBefore: boolean;
  /** The URLs that redirected it here. */
  readonly trail?: readonly string[];
}

/** Gate, exchange, policy: the one path that every request of the program takes. */
export function createCaller(options: CallerOptions): Caller {
  let exchanges = 0;
  const attemptOptions: AttemptOptions = { ...options, count: () => (exchanges += 1) };

  async function run<T>(
    request: HttpRequest,
    idempotent: boolean,
    read: Reader<T>,
    before: Progress,
  ): Promise<Outcome<T>> {
    let { tries, lostBefore } = before;
    for (;;) {
      const turn = await options.gate.enter(request.signal);
      const result = await inTurn(turn, attempt(request, read, attemptOptions));
      tries += 1;
      if (result.kind === "answered") {
        turn.end({ kind: "accepted" });
        if (result.serverTime !== null) options.onServerTime(result.serverTime);
        return { kind: "answered", value: result.value, lostBefore };
      }
      const facts = factsOf(result.failure, idempotent, tries);
      const decision = decide(facts);
      const announced = endTurn(turn, result.failure, decision, options.limits);
      lostBefore ||= mayHaveArrived(result.failure);
      const { error, answer } = result;
      if (decision.action === "give-up") {
        const { trail = [] } = before;
        const followed = followRedirect(request, result, trail);
        if (followed === null) return { kind: "given-up", error, answer, lostBefore };
        return await run(followed, idempotent, read, { tries: 0, lostBefore, trail: [...trail, request.url] });
      }
      if (decision.action === "look-up") {
        const progress = { tries, lostBefore: false };
        return {
          kind: "lost",
          error,
          answer,
          goOn: async () => await again(request, idempotent, read, progress, facts, error),
        };
      }
      await wait(request, decision.waitMs, error, tries, announced);
    }
  }

  async function again<T>(
    request: HttpRequest,
    idempotent: boolean,
    read: Reader<T>,
    progress: Progress,
    facts: RetryFacts,
    error: ClientError,
  ): Promise<Outcome<T>> {
    const decision = repeat(facts);
    if (decision.action !== "retry") return { kind: "given-up", error, answer: null, lostBefore: false };
    await wait(request, decision.waitMs, error, progress.tries, true);
    return await run(request, idempotent, read, progress);
  }

  function factsOf(failure: Failure, idempotent: boolean, tries: number): RetryFacts {
    return { ...options.limits, failure, idempotent, tries, fraction: options.random.fraction() };
  }

  async function wait(
    request: HttpRequest,
    waitMs: number,
    error: ClientError,
    tries: number,
    announced: boolean,
  ): Promise<void> {
    const { method, url } = error.call;
    if (announced)
      options.onWait?.({ method, url, waitMs, reason: error.what, repeat: tries, retries: options.limits.retries });
    await options.clock.sleep(waitMs, request.signal);
  }

  return {
    run: async (request, idempotent, read) => await run(request, idempotent, read, { tries: 0, lostBefore: false }),
  };
}

/** A fault or an abort gives the place in the gate back, too. */
async function inTurn<T>(turn: Turn, running: Promise<Attempt<T>>): Promise<Attempt<T>> {
  try {
    return await running;
  } catch (error) {
    turn.end({ kind: "failed" });
    throw error;
  }
}

/** Tells the gate, and whether the wait that follows is news: 429s of one pause are announced once. */
function endTurn(turn: Turn, failure: Failure, decision: Decision, limits: RetryLimits): boolean {
  if (failure.kind !== "status") {
    turn.end({ kind: "failed" });
    return true;
  }
  if (failure.status !== 429 && failure.status !== 503) {
    turn.end({ kind: failure.status < 500 ? "accepted" : "failed" });
    return true;
  }
  const asked = failure.retryAfterMs ?? (failure.status === 429 && decision.action === "retry" ? decision.waitMs : 0);
  return turn.end({ kind: "throttled", pauseMs: Math.min(asked, limits.maxWaitMs), rate: failure.status === 429 });
}

function mayHaveArrived(failure: Failure): boolean {
  if (failure.kind === "status") return failure.status >= 500 || failure.status === 408;
  return failure.kind === "lost" || failure.kind === "unreadable";
}
