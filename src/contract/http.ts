/**
 * One HTTP exchange as plain data. The client's transport and the service are both a function from `HttpRequest` to
 * `HttpResponse`, so that the two ends can meet without a socket.
 */
export interface HttpRequest {
  /** Upper-case method. */
  readonly method: string;
  /** Absolute URL with query. */
  readonly url: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body; absent and empty mean the same. */
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  /** Header names in lower case; repeated headers are joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<Uint8Array>;
}

export type Exchange = (request: HttpRequest) => Promise<HttpResponse>;

/** Header of an answer to a change, not part of the API: everything was so already. */
export const UNCHANGED = { "x-survey-outcome": "unchanged" } as const;
