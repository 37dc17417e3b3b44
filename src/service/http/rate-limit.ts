/** A leaky bucket per caller: its size is the limit's requests, and it drains within the limit's period. */
import type { Clock } from "../../runtime/clock.ts";
import { HttpError } from "./replies.ts";

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

export interface RateLimiter {
  /** Throws 429 with `Retry-After` if the caller's bucket is full. */
  readonly check: (caller: string) => void;
  /** Like `check`, and counts the request if there is room. */
  readonly count: (caller: string) => void;
}

/** Returns the seconds to wait, 0 if there is room. */
export function createWaitLimit(limit: RateLimit, clock: Clock): { readonly count: (caller: string) => number } {
  const limiter = createRateLimiter(limit, clock);
  return {
    count: (caller) => {
      try {
        limiter.count(caller);
        return 0;
      } catch (error) {
        if (error instanceof HttpError) return Number(error.headers["retry-after"]);
        throw error;
      }
    },
  };
}

const BUCKETS_MAX = 10_000;
const UNLIMITED: RateLimiter = { check: () => undefined, count: () => undefined };

/** Null means no limit. */
export function createRateLimiter(limit: RateLimit | null, clock: Clock): RateLimiter {
  if (limit === null) return UNLIMITED;
  const buckets = new Map<string, Bucket>();
  const perMs = limit.requests / (limit.periodSeconds * 1000);
  const check = (caller: string): Bucket => {
    const now = clock.monotonic();
    const old = buckets.get(caller);
    const level = old === undefined ? 0 : Math.max(0, old.level - (now - old.at) * perMs);
    const waitMs = (level + 1 - limit.requests) / perMs;
    if (waitMs > 0 && level > 0) {
      throw new HttpError(429, undefined, { "retry-after": String(Math.max(1, Math.ceil(waitMs / 1000))) });
    }
    return { level, at: now };
  };
  const count = (caller: string): void => {
    const { level, at } = check(caller);
    if (buckets.size >= BUCKETS_MAX) buckets.clear();
    buckets.set(caller, { level: level + 1, at });
  };
  return { check: (caller) => void check(caller), count };
}
