/** A leaky bucket for each caller: it holds as many requests as the limit names and drains over the limit's period. */
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
  /** Throws 429 with `Retry-After` in whole seconds, at least 1, when this caller's bucket is full. */
  readonly check: (caller: string) => void;
  /** As `check`; counts the request otherwise. */
  readonly count: (caller: string) => void;
}

/** A limit for each block of addresses, told as seconds to wait: 0 while there is room. */
export function createAddressLimit(limit: RateLimit, clock: Clock): { readonly count: (address: string) => number } {
  const limiter = createRateLimiter(limit, clock);
  return {
    count: (address) => {
      try {
        limiter.count(addressBlock(address));
        return 0;
      } catch (error) {
        if (error instanceof HttpError) return Number(error.headers["retry-after"]);
        throw error;
      }
    },
  };
}

/** What one owner is likely to have: the /24 of an IPv4 address, the /64 of an IPv6 one. */
export function addressBlock(address: string): string {
  const four = /(?:^|:)(\d+\.\d+\.\d+)\.\d+$/.exec(address)?.[1];
  return four ?? networkOf(address);
}

function networkOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = head.split(":");
  // `2001:db8::1`: what the double colon leaves out is zero.
  const left = tail === undefined ? groups : [...groups.filter((group) => group !== ""), "0", "0", "0", "0"];
  return left.slice(0, 4).join(":");
}

const BUCKETS_MAX = 10_000;
const UNLIMITED: RateLimiter = { check: () => undefined, count: () => undefined };

/** Null limits nothing. */
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
