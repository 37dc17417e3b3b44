/** When a call is repeated: a table of facts and a pure function (design: "HTTP behaviour"). */

export interface RetryLimits {
  /** Repeats after the first try. */
  readonly retries: number;
  /** The longest wait that a `Retry-After` may ask for, milliseconds. */
  readonly maxWaitMs: number;
}

/** Five repeats, five minutes. */
export const RETRY_LIMITS: RetryLimits = { retries: 5, maxWaitMs: 300_000 };

/** How one try failed. */
export type Failure =
  /** An answer with a status outside 2xx. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfterMs: number | null }
  /** The connection failed before the first byte of the request left. */
  | { readonly kind: "not-sent" }
  /** The request may have arrived and no whole answer came: reset, timeout, a 2xx that was cut short. */
  | { readonly kind: "lost" }
  /** A whole 2xx answer that makes no sense. */
  | { readonly kind: "unreadable" }
  /** A repeat meets the same wall: certificate, proxy refusal. Nothing was sent. */
  | { readonly kind: "hopeless" };

export interface RetryFacts extends RetryLimits {
  readonly failure: Failure;
  /** A repeat changes nothing more: `GET`, and writes that the specification makes so. */
  readonly idempotent: boolean;
  /** Tries made so far, the failed one included. */
  readonly tries: number;
  /** From 0 up to, not including, 1: the jitter. */
  readonly fraction: number;
}

export type Decision =
  | { readonly action: "retry"; readonly waitMs: number }
  | { readonly action: "give-up" }
  /** The write may have arrived: look before anything else happens. */
  | { readonly action: "look-up" };

type Action = Decision["action"];

interface Rule {
  readonly when: (failure: Failure) => boolean;
  readonly idempotent: Action;
  readonly otherwise: Action;
}

const status =
  (test: (status: number, retryAfterMs: number | null) => boolean) =>
  (failure: Failure): boolean =>
    failure.kind === "status" && test(failure.status, failure.retryAfterMs);
const kind =
  (wanted: Failure["kind"]) =>
  (failure: Failure): boolean =>
    failure.kind === wanted;

const PASSING = new Set([408, 500, 502, 503, 504]);

/** The first row that fits decides. */
const RULES: readonly Rule[] = [
  { when: kind("hopeless"), idempotent: "give-up", otherwise: "give-up" },
  { when: kind("not-sent"), idempotent: "retry", otherwise: "retry" },
  { when: kind("lost"), idempotent: "retry", otherwise: "look-up" },
  { when: kind("unreadable"), idempotent: "give-up", otherwise: "look-up" },
  { when: status((code) => code === 429), idempotent: "retry", otherwise: "retry" },
  {
    when: status((code, retryAfterMs) => code === 503 && retryAfterMs !== null),
    idempotent: "retry",
    otherwise: "retry",
  },
  { when: status((code) => PASSING.has(code)), idempotent: "retry", otherwise: "look-up" },
  // The work may be done although the answer says otherwise; 303 is how a finished POST points at its result.
  { when: status((code) => code >= 500 || code === 303), idempotent: "give-up", otherwise: "look-up" },
  { when: () => true, idempotent: "give-up", otherwise: "give-up" },
];

/** What happens after a failed try. */
export function decide(facts: RetryFacts): Decision {
  const rule = RULES.find(({ when }) => when(facts.failure));
  const action = (facts.idempotent ? rule?.idempotent : rule?.otherwise) ?? "give-up";
  return action === "retry" ? repeat(facts) : { action };
}

/** A repeat where the limits allow one more; also used when a look-up proved that nothing arrived. */
export function repeat(facts: RetryFacts): Decision {
  if (facts.tries > facts.retries) return { action: "give-up" };
  const asked = facts.failure.kind === "status" ? facts.failure.retryAfterMs : null;
  if (asked !== null && asked > facts.maxWaitMs) return { action: "give-up" };
  // "Now" and times in the past are no invitation to hammer.
  const waitMs = asked !== null && asked > 0 ? asked : backoffMs(facts.tries, facts.fraction);
  return { action: "retry", waitMs: Math.min(waitMs, facts.maxWaitMs) };
}

const BACKOFF_FIRST_MS = 400;
const BACKOFF_LONGEST_MS = 20_000;

/** Full jitter: anything from 0 up to a ceiling that doubles with each try. */
export function backoffMs(tries: number, fraction: number): number {
  return Math.round(fraction * Math.min(BACKOFF_LONGEST_MS, BACKOFF_FIRST_MS * 2 ** (tries - 1)));
}
