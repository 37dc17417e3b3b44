import { ClientError, type CallName } from "./client-error.ts";

export interface BadReplyFacts {
  readonly call: CallName;
  readonly status: number;
  /** The `Content-Type` header; null when absent. */
  readonly contentType: string | null;
  /** The first characters of the body, made harmless. */
  readonly preview: string;
  /** The connection broke before the body was whole: a repeat may help. */
  readonly cutShort?: boolean;
  readonly cause?: unknown;
}

/** An answer came and cannot be used: cut short, not JSON, another shape, another encoding, too large. */
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
