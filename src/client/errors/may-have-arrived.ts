/** What a failed write may have done all the same: the one place that answers it. */
import { BadReplyError } from "./bad-reply-error.ts";
import type { ClientError } from "./client-error.ts";
import { ConnectionError } from "./connection-error.ts";
import { RedirectError, ServiceError } from "./status-errors.ts";
import { TimeoutError } from "./timeout-error.ts";
import { UnknownOutcomeError } from "./unknown-outcome-error.ts";

export type WriteEffect =
  /** No byte of the request left this machine. */
  | "not-sent"
  /** The service said no: 3xx, 4xx, 429. Nothing was done. */
  | "refused"
  /** 408, 5xx, a broken connection, no answer in time, a 2xx that cannot be used: it may have been carried out, or may be yet. */
  | "unknown";

/** `error` is what one try, or the last of several, failed with. */
export function effectOf(error: unknown): WriteEffect {
  if (error instanceof ConnectionError || error instanceof TimeoutError)
    return error.sent === "no" ? "not-sent" : "unknown";
  if (error instanceof BadReplyError || error instanceof ServiceError || error instanceof UnknownOutcomeError)
    return "unknown";
  // 303 is how a finished POST points at its result.
  return error instanceof RedirectError && error.status === 303 ? "unknown" : "refused";
}

/** Whether a write that failed so may have been carried out, or may be yet. */
export function mayHaveArrived(error: unknown): error is ClientError {
  return effectOf(error) === "unknown";
}
