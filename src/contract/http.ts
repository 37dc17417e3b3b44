/**
 * One HTTP exchange as plain data. Transports and the embedded server are both functions from request to response, so
 * they can meet without a socket.
 */
export interface HttpRequest {
  readonly method: string;
  /** Absolute, with query. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names; repeated headers are joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<Uint8Array>;
}

export type Exchange = (request: HttpRequest) => Promise<HttpResponse>;

/** Not in the specification: the change was already in place. */
export const UNCHANGED = { "x-survey-outcome": "unchanged" } as const;
