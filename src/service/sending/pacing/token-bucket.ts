import type { SendRate } from "../../delivery/carrier.ts";

/** A level of 1 is one message; below 0, messages have already reserved times. */
export interface BucketLevel {
  readonly level: number;
  /** Unix milliseconds. */
  readonly at: number;
}

export const FULL_BUCKET: BucketLevel = { level: 1, at: 0 };

/** Reserves times for `count` messages (Unix milliseconds, ascending). Unused times can't be returned. */
export function reserve(rate: SendRate, bucket: BucketLevel, now: number, count = 1) {
  const perMs = rate.count / (rate.perSeconds * 1000);
  // If the clock was set back, messages don't wait until it has caught up.
  const elapsed = Math.max(0, now - bucket.at);
  const level = Math.min(1, bucket.level + elapsed * perMs);
  const departures = Array.from({ length: count }, (_, at) => now + Math.max(0, Math.ceil((at + 1 - level) / perMs)));
  return { bucket: { level: level - count, at: now }, departures };
}
