/** The time of transactions: one clock for all processes, which is the database's unless a test has its own. */
import type { Clock } from "../../../runtime/clock.ts";
import { type WriteTime, writeTime } from "../../domain/write-time.ts";

export interface DatabaseTime {
  /** Before the first read, which does not ask for the time. */
  readonly set: (databaseMs: number) => void;
  /** `newest` is the newest `updatedAt` of its projects. */
  readonly ofWrite: (databaseMs: number, newest: number) => WriteTime;
  readonly ofRead: () => WriteTime;
}

export function createDatabaseTime(clock: Clock, source: "database" | "clock"): DatabaseTime {
  const state = { aheadMs: 0 };
  const readMs = (databaseMs: number): number => {
    if (source === "clock") return clock.now();
    state.aheadMs = databaseMs - clock.now();
    return databaseMs;
  };
  return {
    set: (databaseMs) => void readMs(databaseMs),
    ofWrite: (databaseMs, newest) => writeTime(readMs(databaseMs), newest),
    ofRead: () => writeTime(clock.now() + state.aheadMs, 0),
  };
}
