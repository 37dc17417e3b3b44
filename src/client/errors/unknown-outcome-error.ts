import { ClientError } from "./client-error.ts";

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
