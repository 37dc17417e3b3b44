import type { Clock } from "../../runtime/clock.ts";

/** The service's clock as its `Date` headers tell it. */
export interface ServerClock {
  /** Unix seconds at the service now; our own clock until it has told its time. */
  now(): number;
  /** Our own clock, milliseconds since the epoch. */
  ownNow(): number;
  /** What `now()` would have said at a moment of our own clock, milliseconds, by what is known since. */
  at(ownMs: number): number;
  /** Takes the time of an answer that has just come, Unix seconds. */
  learn(serverTime: number): void;
}

/** `clock` is ours: it tells how much time has passed since the service told its own. */
export function createServerClock(clock: Clock): ServerClock {
  // Headers cut the fraction off: this errs to the past by up to a second, which is the careful side for intents.
  let aheadMs = 0;
  const at = (ownMs: number): number => Math.floor((ownMs + aheadMs) / 1000);
  return {
    at,
    ownNow: () => clock.now(),
    now: () => at(clock.now()),
    learn: (serverTime) => {
      aheadMs = serverTime * 1000 - clock.now();
    },
  };
}
