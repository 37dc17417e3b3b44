import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { MIGRATIONS, newestVersion } from "../../../src/service/sql/schema/migrations.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { silentLog, type LogFields } from "../../../src/runtime/log.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { administer } from "../../../src/service/data-file/administer.ts";
import { backUp, copyThrough, type BackupInfo, type BackupOptions } from "../../../src/service/data-file/backup.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import type { Store } from "../../../src/service/domain/ports.ts";
import { ensureFirstKey } from "../../../src/service/first-project.ts";
import { openTestService, type TestService } from "../../helpers/test-service.ts";
import { moveStore, restoreStore, type CopyStoreOptions } from "../../../src/service/data-file/move-store.ts";
import { openDataFile } from "../../../src/service/data-file/open-data-file.ts";
import { runServer } from "../../../src/service/run-server.ts";
import { isLong, size } from "../../helpers/long.ts";
import { sendInput } from "../domain/fixture.ts";

const KEY = "key-of-the-backup-tests";
const state: { folder: string; stops: (() => Promise<unknown>)[] } = { folder: "", stops: [] };
const file = (name: string): string => path.join(state.folder, name);
const world = { clock: systemClock, random: systemRandom };

beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-backup-"));
});
afterEach(async () => {
  for (const stop of state.stops.splice(0).toReversed()) await stop();
  await rm(state.folder, { recursive: true, force: true });
});

function open(name: string, log = silentLog): Promise<TestService> {
  return openTestService({ ...world, dataFile: file(name), log, publicUrl: null, rateLimit: null });
}

async function serve(
  name = "survey.db",
  log = silentLog,
): Promise<{ service: TestService; post: (n: string) => Promise<number> }> {
  const service = await open(name, log);
  await ensureFirstKey(service.store, systemRandom, KEY);
  const options = { ...world, dataFile: file(name), host: "127.0.0.1", port: 0, tls: null, publicUrl: null };
  const server = await runServer(service, options);
  state.stops.push(() => server.stop());
  const headers = { authorization: `Basic ${btoa(`${KEY}:`)}`, "content-type": "application/json" };
  const post = async (n: string): Promise<number> => {
    const body = JSON.stringify({ email: `${n}@example.org`, send: false });
    return (await fetch(`${server.url}/v1/people.json`, { method: "POST", headers, body })).status;
  };
  return { service, post };
}

async function fill(name: string, people: number): Promise<void> {
  const service = await open(name);
  await ensureFirstKey(service.store, systemRandom, KEY);
  for (let n = 0; n < people; n += 1)
    await service.store.write((tx) => sendPerson(tx, { id: 1, name: "default" }, sendInput({ email: `p${n}@x.co` })), {
      project: "all",
    });
  await service.close();
}

async function backup(name: string, more: Partial<BackupOptions> = {}): Promise<BackupInfo> {
  const given = { ...world, keep: null, signal: new AbortController().signal, ...more };
  const dataFile = file("survey.db");
  const { info } = await administer({ ...world, dataFile }, (_, store) =>
    backUp({ copy: copyThrough(store, file(name)), dataFile, file: file(name), ...given }),
  );
  return info;
}

const copying = (from: string, to: string): CopyStoreOptions => ({
  ...world,
  from: file(from),
  to: file(to),
  signal: new AbortController().signal,
  onRows: async () => undefined,
});

async function withStore<Result>(name: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openDataFile({ ...world, dataFile: file(name) });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  return work.catch((error: Error) =>
    error.message.replaceAll(`${state.folder}${path.sep}`, "").replaceAll(state.folder, "."),
  );
}

const emailsIn = (name: string): Promise<string[]> =>
  withStore(name, async (store) => {
    expect(await store.check()).toEqual([]);
    const which = { since: null, until: null, after: null, limit: 1_000_000 };
    const rows = await store.read((tx) => tx.people.list(1, which));
    return rows.map((row) => (JSON.parse(row) as { email: string }).email);
  });

const dump = (name: string): Promise<unknown> =>
  withStore(name, (store) =>
    store.read(async ({ tables }) => {
      const pages = await Promise.all(tables.names.map((table) => tables.page(table, null, 100_000)));
      const named = tables.names.map((table, index) => [table, pages[index]] as const);
      return Object.fromEntries(named.filter(([table]) => !CHANGED_BY_COPYING.has(table)));
    }),
  );
const CHANGED_BY_COPYING: ReadonlySet<string> = new Set(["delivery_state", "project_state", "operation_log"]);

const loggedIn = (name: string): Promise<unknown> =>
  withStore(name, (store) =>
    store.read(async ({ tables }) =>
      ((await tables.page("operation_log", null, 100)) as { operation: string }[]).map(({ operation }) => operation),
    ),
  );

describe("a backup of a served file", () => {
  test("when it is made during heavy writes, then it has all that was acknowledged before it began", async () => {
    const { post } = await serve();
    const acknowledged: string[] = [];
    let next = 0;
    const writing = { goesOn: true };
    const write = async (): Promise<void> => {
      while (writing.goesOn) {
        const name = `p${next++}`;
        expect(await post(name)).toBe(201);
        acknowledged.push(`${name}@example.org`);
      }
    };
    const writers = Array.from({ length: size(4, 16) }, write);
    await expect.poll(() => acknowledged.length, { interval: 5, timeout: 60_000 }).toBeGreaterThan(size(30, 2000));
    const before = [...acknowledged];
    const info = await backup("copy.db");
    const after = acknowledged.length;
    writing.goesOn = false;
    await Promise.all(writers);
    expect(after).toBeGreaterThan(before.length);
    expect(statSync(file("copy.db")).mode & 0o777).toBe(0o600);
    const copied = await emailsIn("copy.db");
    expect(before.filter((email) => !copied.includes(email))).toEqual([]);
    expect(info).toMatchObject({
      projects: 1,
      people: copied.length,
      responses: 0,
      surveys: 0,
      schema: newestVersion(MIGRATIONS),
    });
    const left = readdirSync(state.folder).filter((name) => name.includes("tmp") || name.endsWith("lock"));
    expect(left.filter((name) => name !== "survey.db.lock")).toEqual([]);
  });

  // Only the long run checks this: on a shared machine other processes cause pauses too.
  test.runIf(isLong)("when the file is large, then the API is never silent for more than 50 ms", async () => {
    const { service, post } = await serve();
    await service.store.write(
      async ({ tables }) => {
        const suppressions = Array.from({ length: 3000 }, (_, n) => ({
          project_id: 1,
          channel: "email",
          address_hash: `${n}${"x".repeat(64 * 1024)}`,
          reason: "bounce",
          created_at: n,
        }));
        await tables.insert("suppressions", suppressions);
      },
      { project: "all" },
    );
    const silences: number[] = [];
    for (let round = 0; round < 5 && !silences.some((ms) => ms <= 50); round += 1) {
      const silence = await longestSilence(post, () => service.store.backup(file(`copy-${round}.db`)));
      const idle = silence <= 50 ? 0 : await longestSilence(post, () => systemClock.sleep(2000));
      silences.push(silence - idle);
    }
    expect(statSync(file("copy-0.db")).size).toBeGreaterThan(190_000_000);
    expect(Math.min(...silences)).toBeLessThanOrEqual(50);
  });
});

async function longestSilence(post: (name: string) => Promise<number>, work: () => Promise<unknown>): Promise<number> {
  const progress = { isDone: false, longest: 0 };
  await post("first");
  let lastMs = performance.now();
  const working = work().then(() => Object.assign(progress, { isDone: true }));
  for (let n = 0; n === 0 || !progress.isDone; n += 1) {
    await post(`ping${n}`);
    const nowMs = performance.now();
    progress.longest = Math.max(progress.longest, nowMs - lastMs);
    lastMs = nowMs;
  }
  await working;
  return progress.longest;
}

function digestOf(name: string): string | undefined {
  return existsSync(file(name))
    ? createHash("sha256")
        .update(readFileSync(file(name)))
        .digest("hex")
    : undefined;
}

const kept = (): (string | undefined)[] => ["b.db", "b.db.1", "b.db.2", "b.db.3"].map((name) => digestOf(name));
const refusedBackup = (name: string, keep: number | null = null): Promise<unknown> => refusalOf(backup(name, { keep }));
const refusedRestore = (from: string, to: string): Promise<unknown> => refusalOf(restoreStore(copying(from, to)));

describe("the backup's file", () => {
  test("when backups are kept, then the newest has the name and older ones are numbered, so many in all", async () => {
    await fill("survey.db", 0);
    const made: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      await withStore("survey.db", (store) =>
        store.write((tx) => sendPerson(tx, { id: 1, name: "default" }, sendInput({ email: `p${n}@x.co` })), {
          project: "all",
        }),
      );
      made.unshift((await backup("b.db", { keep: 3 })).sha256);
    }
    expect(new Set(made).size).toBe(4);
    expect(kept()).toEqual([...made.slice(0, 3), undefined]);
    // The state after a kill between two renames.
    await rm(file("b.db"));
    made.splice(0, 1, (await backup("b.db", { keep: 3 })).sha256);
    expect(kept()).toEqual([...made.slice(0, 3), undefined]);
    made.unshift((await backup("b.db", { keep: 2 })).sha256);
    expect(kept()).toEqual([...made.slice(0, 2), undefined, undefined]);
  });

  test("when the target cannot be used, then one sentence says so and nothing changes", async () => {
    await fill("survey.db", 1);
    writeFileSync(file("there.txt"), "mine");
    writeFileSync(file("old.db-wal"), "log");
    copyFileSync(file("survey.db"), file("used.db"));
    await mkdir(file("folder"));
    const before = readdirSync(state.folder);
    expect({
      existing: await refusedBackup("there.txt"),
      "a text, with --keep": await refusedBackup("there.txt", 2),
      "another data file, with --keep": await refusedBackup("used.db", 2),
      "a folder": await refusedBackup("folder", 2),
      "the data file": await refusedBackup("survey.db", 2),
      "in a missing folder": await refusedBackup("no/b.db"),
      "beside another's log": await refusedBackup("old.db"),
    }).toEqual({
      existing: "there.txt already exists; name another file",
      "a text, with --keep": "there.txt exists and is not a backup",
      "another data file, with --keep": "used.db exists and is not a backup",
      "a folder": "folder is a folder",
      "the data file": "survey.db is the data file itself",
      "in a missing folder": "cannot write no/b.db: the folder no does not exist",
      "beside another's log": "old.db-wal is the log of another data file; name another file",
    });
    expect(readdirSync(state.folder)).toEqual(before);
    expect(readFileSync(file("there.txt"), "utf8")).toBe("mine");
    expect(await emailsIn("survey.db")).toEqual(["p0@x.co"]);
  });

  test.each<[string, (real: Store) => Store["backup"], string]>([
    [
      "the disk is full",
      () => () => Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" })),
      "cannot write $: the disk is full",
    ],
    [
      "the copy is damaged",
      (real) => async (copy) => {
        const result = await real.backup(copy);
        writeFileSync(copy, readFileSync(copy).fill("x", 4096, 9000));
        return result;
      },
      "$: the copy cannot be used: the file is damaged",
    ],
    [
      "the copy lacks a row",
      (real) => async (copy) => ({ ...(await real.backup(copy)), people: 2 }),
      "$: the copy has 1 people instead of 2",
    ],
  ])(
    "when %s, then one sentence says so, the old backup stays and nothing else is left",
    async (_what, spoil, message) => {
      await fill("survey.db", 1);
      const { sha256 } = await backup("b.db");
      const before = readdirSync(state.folder);
      const dataFile = file("survey.db");
      const signal = new AbortController().signal;
      const again = administer({ ...world, dataFile }, (_, store) =>
        backUp({
          copy: copyThrough({ backup: spoil(store) }, file("b.db")),
          dataFile,
          file: file("b.db"),
          keep: 2,
          ...world,
          signal,
        }),
      );
      await expect(again).rejects.toThrow(message.replace("$", file("b.db")));
      expect(readdirSync(state.folder)).toEqual(before);
      expect(digestOf("b.db")).toBe(sha256);
    },
  );
});

describe("a restored store", () => {
  test("when a backup is restored, then all is there, its keys work, and nothing is sent until it is resumed", async () => {
    await fill("survey.db", 3);
    await backup("b.db");
    const restored = await restoreStore(copying("b.db", "new.db"));
    expect(restored).toMatchObject({ projects: 1, people: 3, responses: 0, surveys: 3, paused_at: expect.any(Number) });
    expect(await dump("new.db")).toEqual(await dump("survey.db"));
    expect(await loggedIn("new.db")).toEqual(["restore"]);
    const warnings: [string, LogFields][] = [];
    const { service, post } = await serve("new.db", {
      ...silentLog,
      warn: (event, fields) => void warnings.push([event, fields]),
    });
    expect(await post("later")).toBe(201);
    const message = "no survey is sent: the data was restored from a backup";
    await expect.poll(() => warnings).toEqual([["sending_paused", { since: restored.paused_at, message }]]);
    expect(existsSync(file("outbox"))).toBe(false);
    await service.admin({ kind: "resume", project: null });
    await expect.poll(async () => (await service.admin({ kind: "delivery.status" })).sent).toBe(3);
  });

  test("when it cannot be restored, then one sentence says so and nothing changes", async () => {
    await fill("survey.db", 1);
    await backup("b.db");
    copyFileSync(file("survey.db"), file("other.db"));
    copyFileSync(file("survey.db"), file("used.db"));
    writeFileSync(file("used.db-wal"), "log");
    writeFileSync(file("there.txt"), "mine");
    writeFileSync(file("short.db"), readFileSync(file("b.db")).subarray(0, 100_000));
    const before = readdirSync(state.folder);
    expect({
      "a target with a project": await refusedRestore("b.db", "other.db"),
      "no backup": await refusedRestore("no.db", "new.db"),
      "a text": await refusedRestore("there.txt", "new.db"),
      "one that was cut short": await refusedRestore("short.db", "new.db"),
      "a file in use": await refusedRestore("used.db", "new.db"),
      "a missing folder": await refusedRestore("b.db", "no/new.db"),
      "one file": await refusedRestore("b.db", "b.db"),
    }).toEqual({
      "a target with a project": "other.db is not empty: it has 1 project",
      "no backup": "there is no file no.db",
      "a text": "there.txt: the file is not a SQLite database",
      "one that was cut short": "short.db: the file is damaged",
      "a file in use": "used.db is in use, or was when its service was killed: the log used.db-wal is next to it",
      "a missing folder": "cannot write no/new.db: the folder no does not exist",
      "one file": "b.db is the data file itself",
    });
    expect(readdirSync(state.folder)).toEqual(before);
    expect(await emailsIn("other.db")).toEqual(["p0@x.co"]);
  });
});

describe("a moved store", () => {
  test("when a file is moved, then the new one has every row, and the old one says where it is", async () => {
    await fill("survey.db", 3);
    const before = await dump("survey.db");
    const moved = await moveStore(copying("survey.db", "new.db"));
    expect(moved).toMatchObject({ projects: 1, people: 3, surveys: 3, paused_at: expect.any(Number) });
    expect(await dump("new.db")).toEqual(before);
    expect(await loggedIn("new.db")).toEqual(["move"]);
    const refusal = `${file("survey.db")}: the data was moved to ${file("new.db")}; use that`;
    await expect(serve("survey.db")).rejects.toThrow(refusal);
    await expect(backup("b.db")).rejects.toThrow(refusal);
    await restoreStore(copying("survey.db", "back.db"));
    await moveStore(copying("new.db", "newer.db"));
    expect(await dump("back.db")).toEqual(before);
    expect(await dump("newer.db")).toEqual(before);
  });

  test("when a server runs on the file, then it is not moved, and the server goes on", async () => {
    const { post } = await serve();
    await expect(moveStore(copying("survey.db", "new.db"))).rejects.toThrow(
      "survey.db is served, or was within the last 30 seconds; stop its process first",
    );
    expect(existsSync(file("new.db"))).toBe(false);
    expect(await post("p")).toBe(201);
  });

  test("when a move is stopped half way, then both files are as they were", async () => {
    await fill("survey.db", 3);
    const before = await dump("survey.db");
    const stopping = new AbortController();
    const onRows = async (rows: number): Promise<void> => (rows > 4 ? stopping.abort(new Error("stopped")) : undefined);
    const moving = moveStore({ ...copying("survey.db", "new.db"), onRows, signal: stopping.signal });
    await expect(moving).rejects.toThrow("stopped");
    expect(readdirSync(state.folder).filter((name) => name.startsWith("new"))).toEqual([]);
    expect(await dump("survey.db")).toEqual(before);
  });
});
