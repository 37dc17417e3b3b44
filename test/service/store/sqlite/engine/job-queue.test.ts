import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemClock } from "../../../../../src/runtime/clock.ts";
import { systemRandom } from "../../../../../src/runtime/random.ts";
import { CountChanges } from "../../../../../src/service/sql/lists/count-changes.ts";
import { ProjectStates } from "../../../../../src/service/sql/project-states.ts";
import { createStoreRows } from "../../../../../src/service/store/sql/store-rows.ts";
import { type SqliteDatabase, toDatabase } from "../../../../../src/service/store/sqlite/engine/database.ts";
import { FileWatch } from "../../../../../src/service/store/sqlite/engine/file-watch.ts";
import { JobQueue } from "../../../../../src/service/store/sqlite/engine/job-queue.ts";
import { runWrite } from "../../../../../src/service/store/sqlite/write-transaction.ts";
import { openRawDatabase } from "../../engines.ts";

async function openQueue(changed: Partial<FileWatch> = {}) {
  const database = await openRawDatabase();
  database.exec("CREATE TABLE t (v INTEGER); CREATE TABLE project_state (clock INTEGER)");
  const commits: number[] = [];
  const watch = Object.assign(new FileWatch(null, () => undefined), changed);
  const states = new ProjectStates(async () => null);
  const counts = new CountChanges();
  const rows = createStoreRows(toDatabase(database, states, counts), {
    clock: systemClock,
    random: systemRandom,
    appUrl: () => "",
    onWebhookEvent: () => undefined,
    isNoted: { value: false },
  });
  const queue = new JobQueue({
    database,
    clock: systemClock,
    watch,
    run: (jobs) => runWrite({ database, clock: systemClock, states, counts, rows, watch }, jobs),
    onCommit: ({ jobs }) => commits.push(jobs),
  });
  const insert = (value: number): Promise<number> =>
    queue.write(async () => database.run("INSERT INTO t VALUES (?)", [value]));
  return { database, queue, commits, insert };
}

const values = (database: SqliteDatabase) => database.all("SELECT v FROM t").map(({ v }) => v);

test("while reads keep coming, writes wait a few turns for each other and share one commit", async () => {
  const { database, queue, commits, insert } = await openQueue();
  const jobs: Promise<unknown>[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    jobs.push(queue.read(async () => values(database)));
    if (turn % 2 === 0) jobs.push(insert(turn));
    await setImmediate();
  }
  await Promise.all(jobs);
  expect([commits, values(database)]).toEqual([[3], [0, 2, 4]]);
  database.close();
});

test("when the file is another one after a commit, then no write of it is answered as done", async () => {
  const lost = new Error("the file was removed");
  const { database, insert } = await openQueue({
    look: () => {
      throw lost;
    },
  });
  expect(await Promise.allSettled([insert(1), insert(2)])).toEqual([
    { status: "rejected", reason: lost },
    { status: "rejected", reason: lost },
  ]);
  database.close();
});

test("when a queue is closed, then what waits is written first", async () => {
  const { database, queue, insert } = await openQueue();
  const said: string[] = [];
  const jobs = [1, 2, 3].map((value) => insert(value).then(() => said.push(`${value}`)));
  const closed = queue.close().then(() => said.push("closed"));
  await expect(insert(4)).rejects.toThrow("the store is closed");
  await Promise.all([...jobs, closed]);
  expect([said, values(database)]).toEqual([
    ["1", "2", "3", "closed"],
    [1, 2, 3],
  ]);
  database.close();
});

test("when the disk is full in the middle of a job, then the job ends with that, and later ones work", async () => {
  const { database, queue } = await openQueue();
  database.exec("PRAGMA max_page_count = 8");
  const add = (bytes: number): Promise<number> =>
    queue.write(async () => database.run("INSERT INTO t VALUES (?)", ["x".repeat(bytes)]));
  await expect(add(100_000)).rejects.toThrow("the disk is full");
  expect([await add(1), values(database)]).toEqual([1, ["x"]]);
  database.close();
});
