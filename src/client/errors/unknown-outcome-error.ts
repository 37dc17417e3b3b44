import { ClientError, type CallName } from "./client-error.ts";

/** A write's answer was lost and no look-up could tell whether it arrived; `cause` is the failure itself. */
export class UnknownOutcomeError extends ClientError {
  override readonly name = "UnknownOutcomeError";

  constructor(
    reason: string,
    facts: { readonly call: CallName; readonly status: number | null; readonly cause: ClientError },
  ) {
    super(`it is unknown whether the request arrived (${reason}; ${facts.cause.what})`, {
      code: "outcome_unknown",
      details: facts.cause.details,
      hint: "look at the person before you repeat it: a repeat may send a second survey or add a second response",
      ...facts,
    });
  }
}
