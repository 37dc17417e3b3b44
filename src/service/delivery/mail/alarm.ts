import type { Clock } from "../../../runtime/clock.ts";

/** One time limit that is moved often and rarely reached. */
export interface Alarm {
  /** Calls `ring` after `ms` milliseconds, in place of what was set before. */
  readonly set: (ms: number, ring: () => void) => void;
  readonly clear: () => void;
}

/** A later limit costs nothing: the sleeper looks when it wakes. Only an earlier one needs another sleeper. */
export function createAlarm(clock: Clock): Alarm {
  const state = { ringsAt: Infinity, wakesAt: Infinity, ring: (): void => undefined };
  let nap: AbortController | null = null;
  const sleep = async (): Promise<void> => {
    nap?.abort();
    const mine = new AbortController();
    nap = mine;
    state.wakesAt = state.ringsAt;
    try {
      await clock.sleep(state.ringsAt - clock.monotonic(), mine.signal);
    } catch {
      return;
    }
    state.wakesAt = Infinity;
    if (state.ringsAt > clock.monotonic()) {
      if (state.ringsAt < Infinity) void sleep();
      return;
    }
    state.ringsAt = Infinity;
    state.ring();
  };
  return {
    set: (ms, ring) => {
      state.ringsAt = clock.monotonic() + ms;
      state.ring = ring;
      if (state.ringsAt < state.wakesAt) void sleep();
    },
    clear: () => {
      state.ringsAt = Infinity;
      state.wakesAt = Infinity;
      nap?.abort();
      nap = null;
    },
  };
}
