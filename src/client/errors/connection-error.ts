import { ClientError, type CallName } from "./client-error.ts";

/** Whether any byte of the request can have reached the service; `no` makes a repeat safe. */
export type Sent = "no" | "maybe";

export interface ConnectionFacts {
  readonly call: CallName;
  readonly sent: Sent;
  /** How many repeats make sense: 0 for a certificate or a proxy's refusal, 1 for an unknown host, else no bound. */
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
