/** Network jitter can bring two requests closer together on their way to the server. */
const LEEWAY_MS = 10;

/** Starts are spread evenly, because a burst could overflow a leaky bucket. */
export function createRateCeiling(ratePerSecond: number) {
  const count = Math.max(1, Math.floor(ratePerSecond));
  const windowMs = (count / ratePerSecond) * 1000 + LEEWAY_MS;
  const spacing = createSpacing();
  const starts: number[] = [];
  return {
    delayMs: (nowMs: number): number => {
      const oldest = starts.length < count ? Number.NEGATIVE_INFINITY : (starts[0] ?? 0);
      return Math.max(0, oldest + windowMs - nowMs, spacing.delayMs(nowMs));
    },
    started: (nowMs: number): void => {
      starts.push(nowMs);
      if (starts.length > count) starts.shift();
      spacing.started(nowMs, ratePerSecond);
    },
  };
}

/** Timers fire late, so after a late start the next request can start this much earlier, to keep the rate. */
const CATCH_UP_MS = 20;

export function createSpacing() {
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    delayMs: (nowMs: number): number => Math.max(0, nextAt - nowMs),
    started: (nowMs: number, perSecond: number): void => {
      nextAt = Math.max(nextAt, nowMs - CATCH_UP_MS) + 1000 / perSecond;
    },
    holdUntil: (atMs: number): void => {
      nextAt = Math.max(nextAt, atMs);
    },
  };
}
