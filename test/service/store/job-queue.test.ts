import { expect, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { createJobQueue } from "../../../src/service/store/sqlite/engine/job-queue.ts";
import { ENGINES, openRawDatabase } from "./engines.ts";

test.each(ENGINES)(
  "when %s is full in the middle of a job, then the job ends with that, and later ones work",
  async (engine) => {
    const database = await openRawDatabase(engine);
    database.exec("CREATE TABLE t (x TEXT)");
    database.exec("PRAGMA max_page_count = 8");
    const queue = createJobQueue(database, systemClock, {
      begin: () => undefined,
      beforeCommit: () => undefined,
      afterCommit: () => undefined,
      failed: (error) => error,
      refusal: () => null,
    });
    const add = (bytes: number): Promise<number> =>
      queue.write(async () => database.run("INSERT INTO t VALUES (?)", ["x".repeat(bytes)]));
    await expect(add(100_000)).rejects.toThrow("the disk is full");
    expect([await add(1), database.all("SELECT count(*) AS n FROM t")]).toEqual([1, [{ n: 1 }]]);
    await queue.close();
  },
);
