/** The time of transactions: the database's clock, shared by all processes, or a test's. */
import type { Clock } from "../../../runtime/clock.ts";
import { type WriteTime, writeTime } from "../../domain/write-time.ts";

export interface DatabaseTime {
  /** Call it before the first read, which doesn't query the time. */
  readonly set: (databaseMs: number) => void;
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
