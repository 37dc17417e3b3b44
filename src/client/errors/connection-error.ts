import { ClientError, type CallName } from "./client-error.ts";

/** Whether any byte of the request can have reached the service; `no` makes a repeat safe. */
export type Sent = "no" | "maybe";

export interface ConnectionFacts {
  readonly call: CallName;
  readonly sent: Sent;
  /** False where a repeat cannot help: a certificate, a proxy's refusal. */
  readonly passing: boolean;
  readonly hint?: string | null;
  readonly cause?: unknown;
}

/** No answer came: name, route, proxy, TLS, or a connection that broke. */
export class ConnectionError extends ClientError {
  override readonly name = "ConnectionError";
  readonly sent: Sent;
  readonly passing: boolean;

  constructor(what: string, facts: ConnectionFacts) {
    super(what, { code: "connection_failed", ...facts });
    this.sent = facts.sent;
    this.passing = facts.passing;
  }
}
