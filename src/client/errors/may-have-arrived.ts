import { BadReplyError } from "./bad-reply-error.ts";
import { ConnectionError } from "./connection-error.ts";
import { ServiceError } from "./status-errors.ts";
import { TimeoutError } from "./timeout-error.ts";

/** Whether a write that failed so may have been carried out all the same: no answer came, or none that says so. */
export function mayHaveArrived(error: unknown): error is Error {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return error.sent === "maybe";
  return error instanceof BadReplyError || error instanceof ServiceError;
}
