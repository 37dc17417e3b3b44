import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemClock } from "../../../../../src/runtime/clock.ts";
import type { SqliteDatabase } from "../../../../../src/service/store/sqlite/engine/database.ts";
import { createJobQueue, type JobQueue } from "../../../../../src/service/store/sqlite/engine/job-queue.ts";
import { openRawDatabase } from "../../engines.ts";

/** A queue over a table `t`, whose disk syncs when the test says so. */
async function withSlowDisk(
  work: (queue: JobQueue, database: SqliteDatabase, syncs: PromiseWithResolvers[], said: string[]) => Promise<void>,
): Promise<void> {
  const database = await openRawDatabase();
  database.exec("CREATE TABLE t (v INTEGER)");
  const syncs: PromiseWithResolvers[] = [];
  const queue = createJobQueue(database, systemClock, {
    begin: () => undefined,
    mark: () => () => undefined,
    end: () => undefined,
    over: () => undefined,
    refresh: () => undefined,
    recover: () => undefined,
    sync: () =>
      new Promise((resolve, reject) => {
        syncs.push({ resolve, reject });
      }),
    failed: (error) => error,
    refusal: () => null,
  });
  await work(queue, database, syncs, []);
  database.close();
}

interface PromiseWithResolvers {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const turns = async () => {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
};
const values = (database: SqliteDatabase) => database.all("SELECT v FROM t").map(({ v }) => v);

test("while the disk syncs a write, reads go on, and nobody is answered from what is not on it yet", async () => {
  await withSlowDisk(async (queue, database, syncs, said) => {
    const insert = (value: number) => async () => void database.run("INSERT INTO t VALUES (?)", [value]);
    const look = async () => void said.push(`ran: ${values(database).join()}`);
    const tell = (what: string) => () => void said.push(what);
    const jobs = [queue.write(insert(1)).then(tell("wrote 1"))];
    await turns();
    jobs.push(queue.read(look).then(tell("read after 1")), queue.write(insert(2)).then(tell("wrote 2")));
    await turns();
    expect(said).toEqual(["ran: 1"]);

    syncs[0]?.resolve();
    await turns();
    expect(said).toEqual(["ran: 1", "wrote 1", "read after 1"]);

    jobs.push(queue.write(insert(3)).then(tell("wrote 3")));
    await turns();
    syncs[1]?.resolve();
    await turns();
    syncs[2]?.resolve();
    await Promise.all(jobs);
    expect(said.slice(3)).toEqual(["wrote 2", "wrote 3"]);
    expect([syncs.length, values(database)]).toEqual([3, [1, 2, 3]]);
  });
});

test("while reads keep coming, writes wait a few turns for each other and share one sync", async () => {
  await withSlowDisk(async (queue, database, syncs) => {
    const jobs: Promise<unknown>[] = [];
    const insert = (value: number) => async () => database.run("INSERT INTO t VALUES (?)", [value]);
    for (let turn = 0; turn < 6; turn += 1) {
      jobs.push(queue.read(async () => values(database)));
      if (turn % 2 === 0) jobs.push(queue.write(insert(turn)));
      await setImmediate();
    }
    expect([syncs.length, values(database)]).toEqual([1, [0, 2, 4]]);
    syncs[0]?.resolve();
    await Promise.all(jobs);
  });
});

test("when the disk fails to sync, then neither the writes nor those who read them are answered with it", async () => {
  await withSlowDisk(async (queue, database, syncs) => {
    const written = queue.write(async () => database.run("INSERT INTO t VALUES (1)"));
    await turns();
    const read = queue.read(async () => values(database));
    await turns();
    syncs[0]?.reject(new Error("EIO"));
    expect(await Promise.allSettled([written, read])).toEqual([
      { status: "rejected", reason: new Error("EIO") },
      { status: "rejected", reason: new Error("EIO") },
    ]);
  });
});

test("when a queue is closed while the disk syncs, then what waits is written and synced first", async () => {
  await withSlowDisk(async (queue, database, syncs, said) => {
    const jobs = [1, 2].map((value) =>
      queue.write(async () => database.run("INSERT INTO t VALUES (?)", [value])).then(() => said.push(`${value}`)),
    );
    await turns();
    jobs.push(queue.write(async () => database.run("INSERT INTO t VALUES (3)")).then(() => said.push("3")));
    const closed = queue.close().then(() => said.push("closed"));
    syncs[0]?.resolve();
    await turns();
    syncs[1]?.resolve();
    await Promise.all([...jobs, closed]);
    expect([said, values(database)]).toEqual([
      ["1", "2", "3", "closed"],
      [1, 2, 3],
    ]);
  });
});

test("when the disk is full in the middle of a job, then the job ends with that, and later ones work", async () => {
  await withSlowDisk(async (queue, database, syncs) => {
    database.exec("PRAGMA max_page_count = 8");
    const add = (bytes: number): Promise<number> =>
      queue.write(async () => database.run("INSERT INTO t VALUES (?)", ["x".repeat(bytes)]));
    await expect(add(100_000)).rejects.toThrow("the disk is full");
    const added = add(1);
    await turns();
    syncs[0]?.resolve();
    expect([await added, values(database)]).toEqual([1, ["x"]]);
  });
});
