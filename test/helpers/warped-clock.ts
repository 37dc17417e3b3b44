/** System time plus an offset. `advance` wakes sleepers right away, so it works with real sockets too. */
import { systemClock, type Clock } from "../../src/runtime/clock.ts";
import { onAbort } from "../../src/runtime/on-abort.ts";

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
      signal?.throwIfAborted();
      // On Node 20, `AbortSignal.any` leaks as long as the given signal lives.
      const woken = new AbortController();
      const stopListening = onAbort(signal, () => woken.abort());
      sleepers.set(woken, monotonic() + ms);
      try {
        await systemClock.sleep(ms, woken.signal);
      } catch {
        signal?.throwIfAborted();
      } finally {
        stopListening();
        sleepers.delete(woken);
      }
    },
    advance: (ms) => {
      added += ms;
      for (const [woken, at] of sleepers) if (at <= monotonic()) woken.abort();
    },
  };
}
