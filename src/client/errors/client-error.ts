import type { Json } from "../../contract/json.ts";

/** `url` has no query and no credentials. */
export interface CallName {
  readonly method: string;
  readonly url: string;
}

/** The settings that the values come from, such as `SURVEYCTL_BASE_URL`. */
export interface Origin {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface ClientErrorFacts {
  /** Part of the error JSON, so existing codes never change. */
  readonly code: string;
  readonly call: CallName;
  readonly status?: number | null;
  readonly details?: Json;
  readonly hint?: string | null;
  readonly cause?: unknown;
}

/** Its message is `what: METHOD URL`. */
export class ClientError extends Error {
  override readonly name: string = "ClientError";
  readonly code: string;
  /** The message without method and URL. */
  readonly what: string;
  readonly call: CallName;
  readonly status: number | null;
  readonly details: Json;
  hint: string | null;
  tries = 1;
  origin: Origin | null = null;

  constructor(what: string, facts: ClientErrorFacts) {
    super(
      `${what}: ${facts.call.method} ${facts.call.url}`,
      facts.cause === undefined ? undefined : { cause: facts.cause },
    );
    this.code = facts.code;
    this.what = what;
    this.call = facts.call;
    this.status = facts.status ?? null;
    this.details = facts.details ?? null;
    this.hint = facts.hint ?? null;
  }

  advise(hint: string): this {
    this.hint = hint;
    return this;
  }
}

/** Leaves out credentials and the query, which may contain addresses. */
export function nameCall(method: string, url: string): CallName {
  return {
    method,
    get url() {
      if (!URL.canParse(url)) return url.replace(/[?#].*$/s, "");
      const { origin, pathname } = new URL(url);
      return origin + pathname;
    },
  };
}
