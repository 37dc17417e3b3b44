/** A leaky bucket for each key: it holds as many requests as the limit names and drains over the limit's period. */
import type { Clock } from "../../runtime/clock.ts";
import { HttpError } from "./http-error.ts";

export interface RateLimit {
  readonly requests: number;
  /** 1 for `10/s`, 60 for `600/m`. */
  readonly periodSeconds: number;
}

interface Bucket {
  level: number;
  /** Monotonic milliseconds. */
  at: number;
}

const BUCKETS_MAX = 10_000;

/** Counts a request of this key; throws 429 with `Retry-After` in whole seconds, at least 1, when the bucket is full. */
export function createRateLimiter(limit: RateLimit | null, clock: Clock): (keyHash: string) => void {
  const buckets = new Map<string, Bucket>();
  if (limit === null) return () => undefined;
  const perMs = limit.requests / (limit.periodSeconds * 1000);
  return (keyHash) => {
    const now = clock.monotonic();
    const old = buckets.get(keyHash);
    const level = old === undefined ? 0 : Math.max(0, old.level - (now - old.at) * perMs);
    const waitMs = (level + 1 - limit.requests) / perMs;
    if (waitMs > 0 && level > 0) {
      throw new HttpError(429, undefined, { "retry-after": String(Math.max(1, Math.ceil(waitMs / 1000))) });
    }
    if (buckets.size >= BUCKETS_MAX) buckets.clear();
    buckets.set(keyHash, { level: level + 1, at: now });
  };
}
