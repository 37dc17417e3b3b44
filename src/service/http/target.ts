/** A request's URL taken apart. `new URL` would cost more than finding the row that is asked for. */
export interface Target {
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string;
  /** As it came, percent-encoded. */
  readonly path: string;
  /** Without `?`; empty when there is none. */
  readonly query: string;
}

/** `url` is absolute. */
export function parseTarget(url: string): Target {
  const hostAt = url.indexOf("://") + 3;
  const fragmentAt = url.indexOf("#", hostAt);
  const end = fragmentAt < 0 ? url.length : fragmentAt;
  const queryAt = url.indexOf("?", hostAt);
  const pathEnd = queryAt < 0 || queryAt > end ? end : queryAt;
  const slashAt = url.indexOf("/", hostAt);
  const pathAt = slashAt < 0 || slashAt > pathEnd ? pathEnd : slashAt;
  return { origin: url.slice(0, pathAt), path: url.slice(pathAt, pathEnd) || "/", query: url.slice(pathEnd + 1, end) };
}
