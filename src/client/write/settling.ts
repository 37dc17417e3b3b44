import type { Clock } from "../../runtime/clock.ts";
import type { Settlement } from "./evidence.ts";

export interface Settling {
  readonly clock: Clock;
  /** From now until "no trace of it" is an answer, milliseconds. */
  readonly settleMs: number;
  readonly signal: AbortSignal | undefined;
  /** Called once, before the first pause. */
  readonly onPause?: (forMs: number) => void;
}

const FIRST_PAUSE_MS = 500;

/**
 * Looks, and looks again after pauses that double, until there is proof, nothing can change any more, or the settling
 * time is over; the last look is after its end. Throws what a look throws.
 */
export async function settle(look: () => Promise<Settlement>, options: Settling): Promise<Settlement> {
  const { clock, settleMs, signal, onPause } = options;
  const endAt = clock.monotonic() + settleMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    const settlement = await look();
    const leftMs = endAt - clock.monotonic();
    const isFinal = settlement.kind === "unsettled" && settlement.mayChange !== true;
    if (settlement.kind === "arrived" || isFinal || leftMs <= 0) return settlement;
    if (pauseMs === FIRST_PAUSE_MS) onPause?.(leftMs);
    await clock.sleep(Math.min(pauseMs, leftMs), signal);
  }
}

/** The service's clock as its `Date` headers tell it. */
export interface ServerClock {
  /** Unix seconds at the service now; our own clock until an answer has shown it. */
  readonly now: () => number;
  /** Our own clock, milliseconds since the epoch. */
  ownNow(): number;
  /** The `now()` of a moment of our own clock, milliseconds, by what is known since. */
  at(ownMs: number): number;
  /** Takes the time of an answer that has just come, Unix seconds. */
  learn(serverTime: number): void;
}

/** `clock` is ours: it measures the time since the last answer of the service. */
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
