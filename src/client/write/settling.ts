import type { Clock } from "../../runtime/clock.ts";
import type { Settlement } from "./evidence.ts";

export interface Settling {
  readonly clock: Clock;
  /** Milliseconds from now until a look-up that finds nothing proves that the write didn't arrive. */
  readonly settleMs: number;
  readonly signal: AbortSignal | undefined;
  /** Called once, before the first pause. */
  readonly onPause?: (forMs: number) => void;
}

const FIRST_PAUSE_MS = 500;

/**
 * Calls `look` with doubling pauses until the result is final or the settling time is over; the last call comes after
 * that time. Throws what `look` throws.
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

export interface ServerClock {
  /** Unix seconds by the server's clock; by ours until the first response. */
  readonly now: () => number;
  /** Takes milliseconds of our clock and returns Unix seconds. */
  at(ownMs: number): number;
  /** Takes the `Date` header of a response that just arrived. */
  learn(serverTime: number): void;
}

export function createServerClock(clock: Clock): ServerClock {
  // Date headers have no fraction, so this is up to a second early, which is safe for intents.
  let aheadMs = 0;
  const at = (ownMs: number): number => Math.floor((ownMs + aheadMs) / 1000);
  return {
    at,
    now: () => at(clock.now()),
    learn: (serverTime) => {
      aheadMs = serverTime * 1000 - clock.now();
    },
  };
}
