import { ClientError, type CallName } from "./client-error.ts";
import { READ_ONLY_REFUSAL } from "../../contract/key-access.ts";
import type { Json } from "../../contract/json.ts";

/** `no` means a retry is safe; `maybe` means the server may have received part of the request. */
export type Sent = "no" | "maybe";

export interface ConnectionFacts {
  readonly call: CallName;
  readonly sent: Sent;
  /** Retries that make sense: 0 for a bad certificate or a proxy's refusal, 1 for an unknown host. */
  readonly repeatsMax?: number;
  readonly hint?: string | null;
  readonly cause?: unknown;
}

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
  /** Null if nothing was sent. */
  readonly status: number | null;
}

export class AuthError extends ClientError {
  override readonly name = "AuthError";

  constructor(what: string, facts: AuthFacts) {
    super(what, { code: facts.status === 401 ? "unauthorized" : "forbidden", ...facts });
  }
}

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

/** 4xx other than 401, 403, 408 and 429. */
export class RefusedError extends ClientError {
  override readonly name = "RefusedError";

  constructor(what: string, facts: StatusFacts) {
    super(what, { code: facts.status === 404 ? "not_found" : "refused", ...facts });
  }
}

/** 5xx or 408, after retries. */
export class ServiceError extends ClientError {
  override readonly name = "ServiceError";
  /** Milliseconds; null if the server didn't name a time. */
  readonly retryAfterMs: number | null;

  constructor(what: string, facts: StatusFacts & { readonly retryAfterMs?: number | null }) {
    super(what, { code: "service_failed", ...facts });
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** 429, after retries, or because `Retry-After` is too long. */
export class RateLimitedError extends ClientError {
  override readonly name = "RateLimitedError";
  /** Milliseconds; null if the server didn't name a time. */
  readonly retryAfterMs: number | null;

  constructor(what: string, facts: StatusFacts & { readonly retryAfterMs: number | null }) {
    super(what, { code: "rate_limited", ...facts });
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** A 3xx that isn't followed, because the key must not leave the configured origin. */
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
  readonly cutShort?: boolean;
  readonly cause?: unknown;
}

/** Incomplete, not JSON, too large, or of the wrong shape or encoding. */
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

export class PagingError extends ClientError {
  override readonly name = "PagingError";

  constructor(what: string, facts: { readonly call: CallName }) {
    super(what, { code: "paging", ...facts });
  }
}

export class UnknownOutcomeError extends ClientError {
  override readonly name = "UnknownOutcomeError";

  /** `reason` is why a look-up didn't help; null if this write has no look-up. */
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
  | "not-sent"
  /** 4xx or 3xx, except 303 and 408; nothing was changed. */
  | "refused"
  /** The server may have processed the request, or may still process it. */
  | "unknown";

export function effectOf(error: unknown): WriteEffect {
  if (error instanceof ConnectionError || error instanceof TimeoutError)
    return error.sent === "no" ? "not-sent" : "unknown";
  if (error instanceof BadReplyError || error instanceof ServiceError || error instanceof UnknownOutcomeError)
    return "unknown";
  // A server may reply 303 to a POST that it has processed.
  return error instanceof RedirectError && error.status === 303 ? "unknown" : "refused";
}

export function mayHaveArrived(error: unknown): error is ClientError {
  return effectOf(error) === "unknown";
}
