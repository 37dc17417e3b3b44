import type { Clock } from "../../../runtime/clock.ts";

/** A timeout that is often moved and rarely reached. */
export interface Alarm {
  /** Calls `ring` after `ms` milliseconds, and replaces the previous timeout. */
  readonly set: (ms: number, ring: () => void) => void;
  readonly pause: () => void;
  readonly clear: () => void;
}

/** A default abort reason would cost more than everything else. */
const MOVED = "moved";

/**
 * A later timeout costs nothing, because the sleeper checks when it wakes. Only an earlier one needs another sleeper.
 */
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
