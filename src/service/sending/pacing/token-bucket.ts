import type { SendRate } from "../../delivery/carrier.ts";

/**
 * A plain value that the caller loads and stores, so that a restart does not begin with a burst. `level` is at most 1,
 * one message; below 0 are the messages that already have their moment.
 */
export interface BucketLevel {
  readonly level: number;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface Reservation {
  readonly bucket: BucketLevel;
  /** When each message may leave, Unix milliseconds, the earliest first. */
  readonly departures: readonly number[];
}

/** One message may leave at once. */
export const FULL_BUCKET: BucketLevel = { level: 1, at: 0 };

/**
 * Moments for `count` messages. They are taken from the bucket at once: a caller that does not use one does not give it
 * back, and one that waits for its moment needs to ask no more.
 */
export function reserve(rate: SendRate, bucket: BucketLevel, now: number, count = 1): Reservation {
  const perMs = rate.count / (rate.perSeconds * 1000);
  // After a clock was set back, no message waits until it has caught up.
  const elapsed = Math.max(0, now - bucket.at);
  const level = Math.min(1, bucket.level + elapsed * perMs);
  const departures = Array.from({ length: count }, (_, at) => now + Math.max(0, Math.ceil((at + 1 - level) / perMs)));
  return { bucket: { level: level - count, at: now }, departures };
}
