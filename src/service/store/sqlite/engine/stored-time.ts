/** Time that never runs backwards within a data file, whatever the clock does. */
import { type Clock, unixSeconds } from "../../../../runtime/clock.ts";
import type { SqliteDatabase } from "./database.ts";

export interface StoredTime {
  /** The larger of the clock and the newest time that a write has had, Unix seconds. */
  readonly now: () => number;
  readonly newest: () => number;
  /** Others may have written. */
  readonly refresh: () => void;
  /** The write's time by the clock, Unix milliseconds. */
  readonly newestMs: () => number;
  /** In a write, before its first change: fixes its time. */
  readonly begin: () => void;
  /** True when that is later than the file's own. */
  readonly isNew: () => boolean;
  /** The write is durable. */
  readonly commit: () => void;
}

export function createStoredTime(database: SqliteDatabase, clock: Clock): StoredTime {
  const read = (): number => Number(database.first("SELECT max(clock) AS newest FROM project_state")?.newest ?? 0);
  const stored = read();
  const state = { newest: stored, newestMs: stored * 1000, stored };
  const now = (): number => Math.max(unixSeconds(clock), state.newest);
  return {
    now,
    newest: () => state.newest,
    refresh: () => {
      state.stored = read();
      state.newest = Math.max(state.newest, state.stored);
    },
    newestMs: () => state.newestMs,
    begin: () => {
      state.newest = now();
      state.newestMs = Math.max(clock.now(), state.newest * 1000);
    },
    isNew: () => state.newest !== state.stored,
    commit: () => {
      state.stored = state.newest;
    },
  };
}
