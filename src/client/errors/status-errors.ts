import type { Json } from "../../contract/json.ts";
import { ClientError, type CallName } from "./client-error.ts";

export interface StatusFacts {
  readonly call: CallName;
  readonly status: number;
  readonly details: Json;
}

/** 401 or 403: the key was refused. */
export class AuthError extends ClientError {
  override readonly name = "AuthError";

  constructor(what: string, facts: StatusFacts) {
    super(what, { code: facts.status === 401 ? "unauthorized" : "forbidden", ...facts });
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
  /** What the service asked for, milliseconds; null when it named no time. */
  readonly retryAfterMs: number | null;

  constructor(what: string, facts: StatusFacts & { readonly retryAfterMs?: number | null }) {
    super(what, { code: "service_failed", ...facts });
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** 429, after retries, or with a wait longer than allowed. */
export class RateLimitedError extends ClientError {
  override readonly name = "RateLimitedError";
  /** What the service asked for, milliseconds; null when it named no time. */
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
