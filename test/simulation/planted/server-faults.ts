/** Faults in the store on a database server: a world finds them that has one. */
import type { askOutcome } from "../../../src/service/store/postgres/commit-outcome.ts";
import type { createDatabaseTime } from "../../../src/service/store/postgres/database-time.ts";
import { fault } from "./plant.ts";

export const SERVER_FAULTS = [
  fault<typeof askOutcome>(
    "a commit without an answer is taken for undone",
    ["service/store/postgres/commit-outcome.ts", "askOutcome"],
    () => () => Promise.resolve("aborted"),
  ),
  fault<typeof askOutcome>(
    "a commit without an answer is taken for done",
    ["service/store/postgres/commit-outcome.ts", "askOutcome"],
    () => () => Promise.resolve("committed"),
  ),
  fault<typeof createDatabaseTime>(
    "the server's time runs backwards with the clock",
    ["service/store/postgres/database-time.ts", "createDatabaseTime"],
    (original) => (clock, source) => {
      const time = original(clock, source);
      const now = (): number => Math.floor(clock.now() / 1000);
      return { ...time, ofWrite: () => ({ now: now(), nowMs: clock.now() }), ofRead: now };
    },
  ),
].map((one) => ({ ...one, isOfServer: true }));
