/** One class for each kind of reaction to a call that failed, and what a failed write may have done all the same. */
import { ClientError, type CallName } from "./client-error.ts";
import { READ_ONLY_REFUSAL } from "../../contract/key-access.ts";
import type { Json } from "../../contract/json.ts";

/** `maybe` when any byte of the request can have reached the service; `no` makes a repeat safe. */
export type Sent = "no" | "maybe";

export interface ConnectionFacts {
  readonly call: CallName;
  readonly sent: Sent;
  /**
   * The number of repeats that make sense: 0 for a certificate or a proxy's refusal, 1 for an unknown host, else no
   * bound.
   */
  readonly repeatsMax?: number;
  readonly hint?: string | null;
  readonly cause?: unknown;
}

/** No answer came: name, route, proxy, TLS, or a connection that broke. */
export class ConnectionError extends ClientError {
  override readonly name = "ConnectionError";
  readonly sent: Sent;
  readonly repeatsMax: number;

  constructor(what: string, facts: ConnectionFacts) {
    super(what, { code: "connection_failed", ...facts });
    this.sent = facts.sent;
    this.repeatsMax = facts.repeatsMax ?? Infinity;
  }
}

export class TimeoutError extends ClientError {
  override readonly name = "TimeoutError";
  readonly sent: Sent;

  constructor(what: string, facts: { readonly call: CallName; readonly sent: Sent; readonly cause?: unknown }) {
    super(what, { code: "timeout", ...facts });
    this.sent = facts.sent;
  }
}

export interface StatusFacts {
  readonly call: CallName;
  readonly status: number;
  readonly details: Json;
}

interface AuthFacts extends Omit<StatusFacts, "status"> {
  readonly code?: string;
  /** Null where nothing was sent. */
  readonly status: number | null;
}

/** 401 or 403: the key was refused. */
export class AuthError extends ClientError {
  override readonly name = "AuthError";

  constructor(what: string, facts: AuthFacts) {
    super(what, { code: facts.status === 401 ? "unauthorized" : "forbidden", ...facts });
  }
}

/** A write with a key that only reads: the service refused it, or nothing was sent, and then there is no status. */
export class ReadOnlyKeyError extends AuthError {
  constructor(facts: Pick<StatusFacts, "call"> & Partial<StatusFacts>) {
    super(`${READ_ONLY_REFUSAL}; a write needs a key with full access`, {
      code: "read_only_key",
      status: null,
      details: null,
      ...facts,
    });
  }
}

/** Any other 4xx: the request itself is wrong; a repeat would be refused again. */
export class RefusedError extends ClientError {
  override readonly name = "RefusedError";

  constructor(what: string, facts: StatusFacts) {
    super(what, { code: facts.status === 404 ? "not_found" : "refused", ...facts });
  }
}

/** 5xx or 408, after retries. */
export class ServiceError extends ClientError {
  override readonly name = "ServiceError";
  /** The wait that the service asked for, milliseconds; null when it named no time. */
  readonly retryAfterMs: number | null;

  constructor(what: string, facts: StatusFacts & { readonly retryAfterMs?: number | null }) {
    super(what, { code: "service_failed", ...facts });
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** 429, after retries, or with a wait longer than allowed. */
export class RateLimitedError extends ClientError {
  override readonly name = "RateLimitedError";
  /** The wait that the service asked for, milliseconds; null when it named no time. */
  readonly retryAfterMs: number | null;

  constructor(what: string, facts: StatusFacts & { readonly retryAfterMs: number | null }) {
    super(what, { code: "rate_limited", ...facts });
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** 3xx that is not followed: the key goes to the configured origin only, and a write goes nowhere else. */
export class RedirectError extends ClientError {
  override readonly name = "RedirectError";
  readonly location: string | null;

  constructor(what: string, facts: StatusFacts & { readonly location: string | null }) {
    super(what, {
      code: "redirect_refused",
      hint: "if the service has moved, set the base URL to its new address",
      ...facts,
    });
    this.location = facts.location;
  }
}

export interface BadReplyFacts {
  readonly call: CallName;
  readonly status: number;
  readonly contentType: string | null;
  readonly preview: string;
  /** The connection broke before the body was whole: a repeat may help. */
  readonly cutShort?: boolean;
  readonly cause?: unknown;
}

/** An answer came and cannot be used: cut short, not JSON, another shape, another encoding, too large. */
export class BadReplyError extends ClientError {
  override readonly name = "BadReplyError";
  readonly contentType: string | null;
  readonly preview: string;
  readonly cutShort: boolean;

  constructor(problem: string, facts: BadReplyFacts) {
    const body = facts.preview === "" ? "an empty body" : `a body that begins ${JSON.stringify(facts.preview)}`;
    const came = `status ${facts.status}, content type ${facts.contentType ?? "absent"}, ${body}`;
    super(`${problem} (${came})`, { code: "bad_reply", ...facts });
    this.contentType = facts.contentType;
    this.preview = facts.preview;
    this.cutShort = facts.cutShort ?? false;
  }
}

/** A list whose pages cannot be followed: a link that leaves the service, a loop, the same page again and again. */
export class PagingError extends ClientError {
  override readonly name = "PagingError";

  constructor(what: string, facts: { readonly call: CallName }) {
    super(what, { code: "paging", ...facts });
  }
}

/** A write's answer was lost and no check could tell whether it was processed; `cause` is the failure itself. */
export class UnknownOutcomeError extends ClientError {
  override readonly name = "UnknownOutcomeError";

  /** `reason` is why a check could not settle it; null where there is nothing to check. */
  constructor(cause: ClientError, reason: string | null) {
    super(`the request may or may not have been processed: ${cause.what}${reason === null ? "" : `; ${reason}`}`, {
      code: "outcome_unknown",
      call: cause.call,
      status: cause.status,
      details: cause.details,
      cause,
    });
  }
}

export type WriteEffect =
  /** No byte of the request left this machine. */
  | "not-sent"
  /** The service refused it: 3xx, 4xx, 429. Nothing was changed. */
  | "refused"
  /**
   * 408, 5xx, a broken connection, no answer in time, a 2xx that cannot be used: it may have been carried out, or may
   * be yet.
   */
  | "unknown";

export function effectOf(error: unknown): WriteEffect {
  if (error instanceof ConnectionError || error instanceof TimeoutError)
    return error.sent === "no" ? "not-sent" : "unknown";
  if (error instanceof BadReplyError || error instanceof ServiceError || error instanceof UnknownOutcomeError)
    return "unknown";
  // 303 is how a finished POST points at its result.
  return error instanceof RedirectError && error.status === 303 ? "unknown" : "refused";
}

export function mayHaveArrived(error: unknown): error is ClientError {
  return effectOf(error) === "unknown";
}
