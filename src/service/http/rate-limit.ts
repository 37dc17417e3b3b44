/** A leaky bucket per caller. It holds as many requests as the limit allows, and empties within the limit's period. */
import type { Clock } from "../../runtime/clock.ts";
import { HttpError } from "./replies.ts";

export interface RateLimit {
  readonly requests: number;
  readonly periodSeconds: number;
}

interface Bucket {
  readonly level: number;
  readonly at: number;
}

const BUCKETS_MAX = 10_000;

export class RateLimiter {
  readonly #limit: RateLimit | null;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit | null, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Counts the request and returns 0 if there is room; otherwise returns the seconds to wait. */
  count(caller: string): number {
    if (this.#limit === null) return 0;
    const { level, at } = this.#look(caller, this.#limit);
    const seconds = this.#secondsToWait(level, this.#limit);
    if (seconds > 0) return seconds;
    if (this.#buckets.size >= BUCKETS_MAX) this.#buckets.clear();
    this.#buckets.set(caller, { level: level + 1, at });
    return 0;
  }

  /** Throws 429 with `Retry-After` if there is no room. Doesn't count the request. */
  check(caller: string): void {
    if (this.#limit !== null) refuse(this.#secondsToWait(this.#look(caller, this.#limit).level, this.#limit));
  }

  admit(caller: string): void {
    refuse(this.count(caller));
  }

  #look(caller: string, { requests, periodSeconds }: RateLimit): Bucket {
    const now = this.#clock.monotonic();
    const { level, at } = this.#buckets.get(caller) ?? { level: 0, at: now };
    return { level: Math.max(0, level - ((now - at) * requests) / (periodSeconds * 1000)), at: now };
  }

  #secondsToWait(level: number, { requests, periodSeconds }: RateLimit): number {
    const seconds = ((level + 1 - requests) * periodSeconds) / requests;
    return seconds > 0 && level > 0 ? Math.max(1, Math.ceil(seconds)) : 0;
  }
}

function refuse(seconds: number): void {
  if (seconds > 0) throw new HttpError(429, undefined, { "retry-after": String(seconds) });
}
