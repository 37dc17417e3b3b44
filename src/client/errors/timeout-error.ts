import { ClientError, type CallName } from "./client-error.ts";
import type { Sent } from "./connection-error.ts";

/** The connection or the answer took longer than allowed. */
export class TimeoutError extends ClientError {
  override readonly name = "TimeoutError";
  readonly sent: Sent;

  constructor(what: string, facts: { readonly call: CallName; readonly sent: Sent; readonly cause?: unknown }) {
    super(what, {
      code: "timeout",
      hint: facts.sent === "maybe" ? "--timeout sets how long to wait for an answer" : null,
      ...facts,
    });
    this.sent = facts.sent;
  }
}
