/** A clock that jumps to the next sleeper once everything sleeps. */
import type { Clock } from "../../src/runtime/clock.ts";

export interface FakeClock extends Clock {
  readonly sleeps: readonly number[];
}

interface Sleeper {
  readonly at: number;
  readonly order: number;
  readonly wake: () => void;
}

export function createFakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  const sleepers = new Set<Sleeper>();
  const sleeps: number[] = [];
  let nowMs = startMs;
  let ticking = false;

  const tick = (): void => {
    const [next] = [...sleepers].toSorted((a, b) => a.at - b.at || a.order - b.order);
    ticking = next !== undefined;
    if (next === undefined) return;
    nowMs = Math.max(nowMs, next.at);
    sleepers.delete(next);
    next.wake();
    setImmediate(tick);
  };

  return {
    sleeps,
    now: () => nowMs,
    monotonic: () => nowMs - startMs,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      sleeps.push(ms);
      await new Promise<void>((resolve, reject) => {
        const sleeper = { at: nowMs + ms, order: sleeps.length, wake: resolve };
        sleepers.add(sleeper);
        const stop = (): void => {
          sleepers.delete(sleeper);
          reject(signal?.reason as Error);
        };
        signal?.addEventListener("abort", stop, { once: true });
        if (!ticking) {
          ticking = true;
          setImmediate(tick);
        }
      });
    },
  };
}
