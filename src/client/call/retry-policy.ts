export interface RetryLimits {
  readonly retries: number;
  /** Longest `Retry-After` to accept, in milliseconds. */
  readonly maxWaitMs: number;
}

export const RETRY_LIMITS: RetryLimits = { retries: 5, maxWaitMs: 300_000 };

export type Failure =
  | { readonly kind: "status"; readonly status: number; readonly retryAfterMs: number | null }
  /** No byte of the request was sent. */
  | { readonly kind: "not-sent"; readonly repeatsMax: number }
  /** The request may have arrived, but the response is missing or incomplete. */
  | { readonly kind: "lost" }
  /** A retry would get the same response. */
  | { readonly kind: "unreadable" };

export interface RetryFacts extends RetryLimits {
  readonly failure: Failure;
  readonly idempotent: boolean;
  readonly tries: number;
  /** From 0 up to but excluding 1, for jitter. */
  readonly fraction: number;
}

export type RetryDecision = { readonly action: "retry"; readonly waitMs: number } | { readonly action: "give-up" };

const PASSING = new Set([408, 500, 502, 503, 504]);

/** A non-idempotent write is repeated only if the server can't have processed it. */
function whatMayRepeat(failure: Failure): "everything" | "idempotent" | "nothing" {
  if (failure.kind === "not-sent") return "everything";
  if (failure.kind === "lost") return "idempotent";
  if (failure.kind === "unreadable") return "nothing";
  const { status, retryAfterMs } = failure;
  if (status === 429 || (status === 503 && retryAfterMs !== null)) return "everything";
  return PASSING.has(status) ? "idempotent" : "nothing";
}

export function decide(facts: RetryFacts): RetryDecision {
  const { failure, idempotent } = facts;
  const repeats = whatMayRepeat(failure);
  if (repeats === "nothing" || (repeats === "idempotent" && !idempotent)) return { action: "give-up" };
  if (facts.tries > Math.min(facts.retries, failure.kind === "not-sent" ? failure.repeatsMax : Infinity))
    return { action: "give-up" };
  const asked = failure.kind === "status" ? failure.retryAfterMs : null;
  if (asked !== null && asked > facts.maxWaitMs) return { action: "give-up" };
  // `Retry-After: 0` must not cause a tight loop.
  const waitMs = asked !== null && asked > 0 ? asked : backoffMs(facts.tries, facts.fraction);
  return { action: "retry", waitMs: Math.min(waitMs, facts.maxWaitMs) };
}

const BACKOFF_FIRST_MS = 400;
const BACKOFF_LONGEST_MS = 20_000;

/** Full jitter, with a ceiling that doubles with each try. */
export function backoffMs(tries: number, fraction: number): number {
  return Math.round(fraction * Math.min(BACKOFF_LONGEST_MS, BACKOFF_FIRST_MS * 2 ** (tries - 1)));
}

/** RFC 9110's three date formats have an English month name. `Date.parse` alone accepts much more. */
const HTTP_DATE = /^[A-Za-z]+,? .*\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b/;

/**
 * Milliseconds; 0 for a time in the past, null if the header is absent or invalid. A date is compared with the
 * response's `Date` header, in case the local clock is wrong.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>, nowMs: number): number | null {
  const text = headers["retry-after"]?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!HTTP_DATE.test(text)) return null;
  // The oldest format has no zone and means GMT.
  const until = Date.parse(/(?:GMT|UTC|[+-]\d{4})$/.test(text) ? text : `${text} GMT`);
  if (Number.isNaN(until)) return null;
  return Math.max(0, until - (readDate(headers) ?? nowMs));
}

/** Milliseconds since the epoch. */
export function readDate(headers: Readonly<Record<string, string>>): number | null {
  const at = Date.parse(headers["date"] ?? "");
  return Number.isNaN(at) ? null : at;
}
