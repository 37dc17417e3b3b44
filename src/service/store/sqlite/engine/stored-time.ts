/** Time that never runs backwards within a data file, whatever the clock does. */
import { type Clock, unixSeconds } from "../../../../runtime/clock.ts";
import type { SqliteDatabase } from "./database.ts";

export interface StoredTime {
  /** The larger of the clock and the newest time that a write has had, Unix seconds. */
  readonly now: () => number;
  readonly newest: () => number;
  /** In a write, before its first change: fixes its time and keeps that in the file. `always` writes it once more. */
  readonly begin: (always: boolean) => void;
  /** The write is durable. */
  readonly commit: () => void;
}

export function createStoredTime(database: SqliteDatabase, clock: Clock): StoredTime {
  const stored = Number(database.first("SELECT newest_at AS newest FROM clock")?.newest ?? 0);
  const state = { newest: stored, stored };
  const now = (): number => Math.max(unixSeconds(clock), state.newest);
  return {
    now,
    newest: () => state.newest,
    begin: (always) => {
      state.newest = now();
      if (state.newest !== state.stored || always) database.run("UPDATE clock SET newest_at = ?", [state.newest]);
    },
    commit: () => {
      state.stored = state.newest;
    },
  };
}
