import type { Clock } from "../../../runtime/clock.ts";

/** One time limit that is moved often and rarely reached. */
export interface Alarm {
  /** Calls `ring` after `ms` milliseconds, in place of what was set before. */
  readonly set: (ms: number, ring: () => void) => void;
  readonly pause: () => void;
  /** Ends what is set and lets go of the clock. */
  readonly clear: () => void;
}

/** Our own abort reason: making the default one costs more than the rest. */
const MOVED = "moved";

/** A later limit costs nothing: the sleeper looks when it wakes. Only an earlier one needs another sleeper. */
export function createAlarm(clock: Clock): Alarm {
  const state = { ringsAt: Infinity, wakesAt: Infinity, ring: (): void => undefined };
  let nap: AbortController | null = null;
  const sleep = async (): Promise<void> => {
    nap?.abort(MOVED);
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
    pause: () => {
      state.ringsAt = Infinity;
    },
    clear: () => {
      state.ringsAt = Infinity;
      state.wakesAt = Infinity;
      nap?.abort(MOVED);
      nap = null;
    },
  };
}
