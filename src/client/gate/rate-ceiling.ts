/** A hard ceiling on starts: the last few are remembered, and a new one waits until the window has passed. */
export interface RateCeiling {
  delayMs(nowMs: number): number;
  started(nowMs: number): void;
}

/** The service counts by its own clock and at the far end of a network: a little more than the exact window. */
const LEEWAY_MS = 10;

/**
 * Never more than `ratePerSecond` starts within any second, and evenly spread: a burst at the start would
 * keep to the number and still fill a leaky bucket. Rates below one a second give one start in `1/rate` seconds.
 */
export function createRateCeiling(ratePerSecond: number): RateCeiling {
  const count = Math.max(1, Math.floor(ratePerSecond));
  const windowMs = (count / ratePerSecond) * 1000 + LEEWAY_MS;
  const spacing = createSpacing();
  const starts: number[] = [];
  return {
    delayMs: (nowMs) => {
      const oldest = starts.length < count ? Number.NEGATIVE_INFINITY : (starts[0] ?? 0);
      return Math.max(0, oldest + windowMs - nowMs, spacing.delayMs(nowMs));
    },
    started: (nowMs) => {
      starts.push(nowMs);
      if (starts.length > count) starts.shift();
      spacing.started(nowMs, ratePerSecond);
    },
  };
}

/** The most that is made up for a start that came late, milliseconds: timers are coarse. */
const CATCH_UP_MS = 20;

export interface Spacing {
  delayMs(nowMs: number): number;
  /** The pace may differ from start to start; without limit it is `Infinity`. */
  started(nowMs: number, perSecond: number): void;
  holdUntil(atMs: number): void;
}

export function createSpacing(): Spacing {
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    delayMs: (nowMs) => Math.max(0, nextAt - nowMs),
    started: (nowMs, perSecond) => {
      nextAt = Math.max(nextAt, nowMs - CATCH_UP_MS) + 1000 / perSecond;
    },
    holdUntil: (atMs) => {
      nextAt = Math.max(nextAt, atMs);
    },
  };
}
