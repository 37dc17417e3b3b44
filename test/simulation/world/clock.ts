/** Time jumps from one event to the next. Work that needs no time is finished in between. */
import type { Clock } from "../../../src/runtime/clock.ts";

export interface WorldClock {
  /** In Unix milliseconds. */
  readonly now: () => number;
  /** A process's clock, which stops when the process is killed. */
  readonly ofProcess: (isDead: () => boolean) => Clock;
  /** Sets the processes' clock ahead of or behind the world's time. */
  readonly setWrong: (byMs: number) => void;
  /** Calls `work` at the given time; equal times keep the order of calls. */
  readonly at: (ms: number, work: () => void) => void;
  /** Runs the next timer or event. Returns false, with the time set to `untilMs`, if there is none until then. */
  readonly step: (untilMs: number) => Promise<boolean>;
  /** Resolves when no work is left that needs no time. */
  readonly settle: () => Promise<void>;
  /** Number of timers of live processes. */
  readonly sleepers: () => number;
}

interface Timer {
  readonly atMs: number;
  readonly order: number;
  /** The timer can be delayed to the next multiple of this. */
  readonly napMs: number;
  /** Whether it belongs to a process. */
  readonly isOwn: boolean;
  isOver: boolean;
  readonly isDead: () => boolean;
  readonly ring: () => void;
}

/**
 * Intervals of the service's idle loops, which check for hourly work, clock changes and disk space. Running them all
 * would take most of the time, so they are delayed, as on a machine that sleeps. All other timers are exact.
 */
const POLL_MS = 5_000;
const REST_MS = 60_000;
const AFTER_FAILURE_MS = 2_000;
const AFTER_FAILURE_NAP_MS = 600_000;

/** Work that takes real time. */
export interface RealWork {
  readonly isBusy: () => boolean;
  /** Resolves when no such work is running. */
  readonly whenIdle: () => Promise<void>;
}

export interface WorldClockOptions {
  readonly startMs: number;
  /** Interval at which all idle loops wake, aligned to `wakeMs`. */
  readonly napMs: number;
  readonly wakeMs: number;
  /** Null if nothing takes real time. */
  readonly realWork: RealWork | null;
}

export function createWorldClock({ startMs, napMs, wakeMs, realWork }: WorldClockOptions): WorldClock {
  const state = { nowMs: startMs, wrongMs: 0, order: 0, immediates: 0 };
  const napOf = (ms: number): number =>
    ms === POLL_MS || ms === REST_MS ? napMs : ms === AFTER_FAILURE_MS ? AFTER_FAILURE_NAP_MS : 0;
  const timeOf = ({ atMs, napMs: nap }: Timer): number => {
    if (nap === 0) return Math.max(atMs, state.nowMs);
    // The next time at which all timers with this interval wake.
    return Math.max(wakeMs + Math.ceil((atMs - wakeMs) / nap) * nap, state.nowMs);
  };
  const timers = createTimers(timeOf);
  const countImmediates = watchImmediates(state);
  const add = (timer: Omit<Timer, "order" | "isOver">): Timer => {
    state.order += 1;
    const added = { ...timer, order: state.order, isOver: false };
    timers.add(added);
    return added;
  };
  const settle = async (): Promise<void> => {
    do {
      await realWork?.whenIdle();
      await countImmediates();
    } while (state.immediates > 0 || realWork?.isBusy() === true);
  };
  return {
    now: () => state.nowMs,
    setWrong: (byMs) => {
      state.wrongMs = byMs;
    },
    ofProcess: (isDead) => ({
      now: () => state.nowMs + state.wrongMs,
      monotonic: () => state.nowMs - startMs,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted === true) {
            reject(signal.reason as Error);
            return;
          }
          const stop = (): void => {
            timer.isOver = true;
            reject(signal?.reason as Error);
          };
          const ring = (): void => {
            signal?.removeEventListener("abort", stop);
            resolve();
          };
          const atMs = state.nowMs + Math.max(0, ms);
          const timer = add({ atMs, napMs: napOf(ms), isOwn: true, isDead, ring });
          signal?.addEventListener("abort", stop, { once: true });
        }),
    }),
    at: (atMs, work) => void add({ atMs, napMs: 0, isOwn: false, isDead: () => false, ring: work }),
    step: async (untilMs) => {
      const next = timers.take(untilMs);
      if (next === null) {
        state.nowMs = Math.max(state.nowMs, untilMs);
        return false;
      }
      state.nowMs = timeOf(next);
      next.ring();
      await settle();
      return true;
    },
    settle,
    sleepers: () => timers.all().filter((timer) => timer.isOwn && !timer.isDead()).length,
  };
}

interface Timers {
  readonly add: (timer: Timer) => void;
  /** Takes the next timer due until `untilMs`. */
  readonly take: (untilMs: number) => Timer | null;
  readonly all: () => readonly Timer[];
}

/** There are few timers, so searching them linearly is fast. */
function createTimers(timeOf: (timer: Timer) => number): Timers {
  let waiting: Timer[] = [];
  return {
    add: (timer) => void waiting.push(timer),
    take: (untilMs) => {
      waiting = waiting.filter((timer) => !timer.isOver && !timer.isDead());
      const [first] = waiting;
      if (first === undefined) return null;
      const next = { timer: first, atMs: timeOf(first) };
      for (const timer of waiting) {
        const atMs = timeOf(timer);
        if (atMs < next.atMs || (atMs === next.atMs && timer.order < next.timer.order))
          Object.assign(next, { timer, atMs });
      }
      if (next.atMs > untilMs) return null;
      next.timer.isOver = true;
      return next.timer;
    },
    all: () => waiting.filter((timer) => !timer.isOver),
  };
}

/** Counts callbacks waiting for the next turn of the event loop. */
function watchImmediates(state: { immediates: number }): () => Promise<void> {
  const { real } = watched;
  globalThis.setImmediate = ((work: (...args: unknown[]) => void, ...args: unknown[]) => {
    state.immediates += 1;
    return real(() => {
      state.immediates -= 1;
      work(...args);
    });
  }) as typeof setImmediate;
  return () => new Promise((resolve) => void real(resolve));
}

const watched = { real: globalThis.setImmediate };
