/** Looking again until the service can be at work no more. */
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
 * Looks, and looks again after pauses that double, until there is proof, nothing can change any more, or the settling time
 * is over; the last look is after its end. Throws what a look throws.
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
