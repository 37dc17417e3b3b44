import type { Json } from "../../contract/json.ts";

/** The call that failed; `url` is without query and credentials. */
export interface CallName {
  readonly method: string;
  readonly url: string;
}

/** Where the address and the key of a connection come from, such as `SURVEYCTL_BASE_URL`. */
export interface Origin {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface ClientErrorFacts {
  /** The code in the error JSON: one for each class, never changed. */
  readonly code: string;
  readonly call: CallName;
  readonly status?: number | null;
  readonly details?: Json;
  readonly hint?: string | null;
  readonly cause?: unknown;
}

/** Every failure of a call, one subclass for each kind of reaction. Message: `what: METHOD URL`. */
export class ClientError extends Error {
  override readonly name: string = "ClientError";
  readonly code: string;
  /** The message without the call that ends it. */
  readonly what: string;
  readonly call: CallName;
  readonly status: number | null;
  readonly details: Json;
  hint: string | null;
  /** Tries of the call that failed, repeats included. */
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

/**
 * A call's name for messages: the URL loses its query, which may hold people's addresses, and any credentials.
 * Made for each request and read only when one fails, so nothing is parsed before.
 */
export function nameCall(method: string, url: string): CallName {
  return {
    method,
    get url() {
      return URL.canParse(url) ? withoutQuery(new URL(url)) : url.replace(/[?#].*$/s, "");
    },
  };
}

function withoutQuery({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
