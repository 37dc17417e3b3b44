/** The machine's time with a part that a test adds: what sleeps until then wakes at once, over real sockets too. */
import { systemClock, type Clock } from "../../src/runtime/clock.ts";

export interface WarpedClock extends Clock {
  readonly advance: (ms: number) => void;
}

export function createWarpedClock(): WarpedClock {
  const sleepers = new Map<AbortController, number>();
  let added = 0;
  const monotonic = (): number => systemClock.monotonic() + added;
  return {
    monotonic,
    now: () => systemClock.now() + added,
    sleep: async (ms, signal) => {
      const woken = new AbortController();
      sleepers.set(woken, monotonic() + ms);
      const either = signal === undefined ? woken.signal : AbortSignal.any([signal, woken.signal]);
      try {
        await systemClock.sleep(ms, either);
      } catch (error) {
        if (!woken.signal.aborted || signal?.aborted === true) throw error;
      } finally {
        sleepers.delete(woken);
      }
    },
    advance: (ms) => {
      added += ms;
      for (const [woken, at] of sleepers) if (at <= monotonic()) woken.abort();
    },
  };
}
