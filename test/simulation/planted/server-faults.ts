/** Faults in the PostgreSQL store, found only by worlds on a database server. */
import type { askOutcome } from "../../../src/service/store/postgres/commit-outcome.ts";
import type { writeTime } from "../../../src/service/domain/write-time.ts";
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
  fault<typeof writeTime>(
    "on a server, what waits counts from the newest write",
    ["service/domain/write-time.ts", "writeTime"],
    (original) => (nowMs, newest) => ({ ...original(nowMs, newest), nowMs: Math.max(nowMs, newest * 1000) }),
  ),
].map((one) => ({ ...one, isOfServer: true }));
