/** The time of transactions: one clock for all processes, which is the database's unless a test has its own. */
import { type Clock, unixSeconds } from "../../../runtime/clock.ts";

export interface DatabaseTime {
  /** Before the first read, which does not ask for the time. */
  readonly set: (databaseMs: number) => void;
  /** Unix seconds for a write, never before `clock`, the newest time of its projects, and the same in milliseconds. */
  readonly ofWrite: (databaseMs: number, clock: number) => { readonly now: number; readonly nowMs: number };
  /** Unix seconds for a read. A server whose clock is set back must not hide what was due at the newest write. */
  readonly ofRead: () => number;
}

export function createDatabaseTime(clock: Clock, source: "database" | "clock"): DatabaseTime {
  const state = { aheadSeconds: 0, newest: 0 };
  const readMs = (databaseMs: number): number => {
    if (source === "clock") return clock.now();
    state.aheadSeconds = Math.floor(databaseMs / 1000) - unixSeconds(clock);
    return databaseMs;
  };
  return {
    set: (databaseMs) => void readMs(databaseMs),
    ofWrite: (databaseMs, newest) => {
      const nowMs = readMs(databaseMs);
      const now = Math.max(Math.floor(nowMs / 1000), newest);
      state.newest = Math.max(state.newest, now);
      return { now, nowMs };
    },
    ofRead: () => Math.max(unixSeconds(clock) + state.aheadSeconds, state.newest),
  };
}
