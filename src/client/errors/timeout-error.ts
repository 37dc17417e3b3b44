import { ClientError, type CallName } from "./client-error.ts";
import type { Sent } from "./connection-error.ts";

/** The connection or the answer took longer than allowed. */
export class TimeoutError extends ClientError {
  override readonly name = "TimeoutError";
  readonly sent: Sent;

  constructor(what: string, facts: { readonly call: CallName; readonly sent: Sent; readonly cause?: unknown }) {
    super(what, { code: "timeout", ...facts });
    this.sent = facts.sent;
  }
}
