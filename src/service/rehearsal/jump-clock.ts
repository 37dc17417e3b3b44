import { type Clock, nextTurn } from "../../runtime/clock.ts";

/** Stands still until it is set. `sleep` lets other work run and takes no time. */
export interface JumpClock extends Clock {
  readonly seconds: () => number;
  readonly jump: (to: number) => void;
}

export function createJumpClock(start: number): JumpClock {
  const state = { now: start };
  const nowMs = (): number => state.now * 1000;
  return {
    now: nowMs,
    monotonic: nowMs,
    sleep: async (_, signal) => {
      await nextTurn();
      signal?.throwIfAborted();
    },
    seconds: () => state.now,
    jump: (to) => {
      state.now = to;
    },
  };
}
