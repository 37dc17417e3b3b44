/**
 * Header names are lower-case and URLs absolute. Transports and the embedded server are both functions from request to
 * response, so they can be connected without a socket.
 */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<Uint8Array>;
}

export interface PathRequest {
  readonly method: string;
  /** Percent-encoded, with a leading slash. */
  readonly path: string;
  readonly query: string;
  /** Scheme, host and port, without a trailing slash. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: () => Promise<Uint8Array>;
  /** The client's IPv4 address or IPv6 network; empty for a caller in this process. */
  readonly from: string;
}

export type Exchange = (request: HttpRequest) => Promise<HttpResponse>;

/** Not in the specification: the requested change had already been made. */
export const UNCHANGED = { "x-survey-outcome": "unchanged" } as const;
