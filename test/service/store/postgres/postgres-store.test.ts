import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { UnavailableError } from "../../../../src/service/domain/errors.ts";
import { addDigest } from "../../../../src/service/domain/delivery/digests.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { LIFE_SECONDS } from "../../../../src/service/domain/delivery/living.ts";
import { pauseSending } from "../../../../src/service/domain/delivery/oversight.ts";
import type { MessageSender } from "../../../../src/service/domain/delivery/sender.ts";
import type { NewPerson, Store } from "../../../../src/service/domain/ports.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { ensureFirstKey } from "../../../../src/service/first-project.ts";
import { Heartbeat, livingProcesses } from "../../../../src/service/sending/heartbeat.ts";
import { Scheduler } from "../../../../src/service/sending/scheduler.ts";
import { migrateServer } from "../../../../src/service/store/postgres/migrate.ts";
import { openPostgresStore } from "../../../../src/service/store/postgres/open-postgres-store.ts";
import type { CommitOutcome } from "../../../../src/service/store/postgres/commit-outcome.ts";
import { withRetries } from "../../../../src/service/store/postgres/retries.ts";
import { CommitLost } from "../../../../src/service/store/postgres/write-transaction.ts";
import { type Migration, MIGRATIONS, newestVersion } from "../../../../src/service/sql/schema/migrations.ts";
import { StoreDatabaseError } from "../../../../src/service/store/store-errors.ts";
import { administer, type Cluster, hasPostgres, newDatabase, startCluster } from "../../../helpers/postgres.ts";
import { sendInput } from "../../domain/fixture.ts";

if (!hasPostgres) console.warn("PostgreSQL is not installed: its tests are skipped");

test("when it is the pipeline that tests, then a server is installed", () => {
  expect([process.env["SURVEYCTL_TEST_POSTGRES"], hasPostgres]).not.toEqual(["required", false]);
});

const toPerson = (name: string): NewPerson => ({
  email: `${name}@x.co`,
  name,
  phoneNumber: null,
  createdAt: 0,
  lastSentAt: null,
});

const open = (url: string): Promise<Store> => openPostgresStore({ url, clock: systemClock });

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Changes a later version can make while older versions use the database. */
const ADDITION: Migration = {
  version: 9999,
  statements: ({ int, text }) => [
    `CREATE TABLE later (project_id ${int} NOT NULL, id ${int} NOT NULL, PRIMARY KEY (project_id, id))`,
    `ALTER TABLE people ADD COLUMN later ${text}`,
    "CREATE INDEX people_by_later ON people (project_id, later)",
  ],
};

const toNobody: MessageSender = {
  name: "stub",
  channels: ["email"],
  capacity: () => 64,
  deliver: async (_, progress) => {
    await progress.transmitting();
    return { kind: "sent" };
  },
};

describe.skipIf(!hasPostgres)("two processes on one database", () => {
  let url = "";
  let stores: Store[] = [];
  let project = { id: 0, name: "" };
  beforeAll(async () => {
    url = await newDatabase();
    stores = await Promise.all([open(url), open(url)]);
    project = await stores[0]!.write((tx) => addProject(tx, "default"), { project: "all" });
  });
  afterAll(() => Promise.all(stores.map((store) => store.close())));

  const write = async (store: Store, name: string): Promise<void> => {
    for (let count = 0; count < 60; count += 1)
      await store.write((tx) => sendPerson(tx, project, sendInput({ email: `${name}${count}@x.co`, send: false })), {
        project: project.id,
      });
  };

  test.each([-60, 60])("when a command's clock is %d seconds ahead, then it sees at once which live", async (ahead) => {
    await stores[0]!.write((tx) => tx.queue.beat("server", LIFE_SECONDS), { project: "all" });
    const clock = { ...systemClock, now: () => Date.now() + ahead * 1000 };
    const command = await openPostgresStore({ url, clock });
    try {
      expect(await livingProcesses(command)).toEqual(["server"]);
      expect(Math.abs((await command.read(async (tx) => tx.now)) - Date.now() / 1000)).toBeLessThan(5);
    } finally {
      await command.close();
      await stores[0]!.write((tx) => tx.queue.leave("server"), { project: "all" });
    }
  });

  test("when digests are due and both look at once, then each goes out once", async () => {
    const past = new Date(Date.now() - 300_000);
    const schedule = { weekday: past.getUTCDay(), minute: past.getUTCHours() * 60 + past.getUTCMinutes(), zone: "UTC" };
    for (let count = 0; count < 12; count += 1)
      await stores[0]!.write((tx) => addDigest(tx, project, `boss${count}@x.co`, schedule), { project: "all" });
    await ask(
      url,
      `UPDATE digests SET created_at = created_at - 604800;
       UPDATE messages SET scheduled_at = scheduled_at - 604800, due_at = due_at - 604800 WHERE channel = 'digest'`,
    );
    const sent: string[] = [];
    const schedulers = stores.map((store, at) => {
      const claimer = `process-${at}`;
      return new Scheduler({
        store,
        clock: systemClock,
        claimer,
        heartbeat: new Heartbeat({ store, clock: systemClock, claimer, onUnknown: "hold" }),
        senders: [
          {
            name: "test",
            channels: ["digest"],
            capacity: () => 1,
            deliver: async (due, progress) => {
              await progress.transmitting();
              sent.push(`${at} ${due.channel === "digest" ? due.email : ""}`);
              await expect.poll(() => new Set(sent.map((each) => each[0])).size, { timeout: 20_000 }).toBe(2);
              return { kind: "sent" };
            },
          },
        ],
        maxAgeSeconds: null,
        onUnknown: "hold",
        onOutcome: () => undefined,
        onError: (error) => expect.unreachable(String(error)),
      });
    });
    await Promise.all(schedulers.map((scheduler) => scheduler.finish()));
    expect(sent.map((each) => each.slice(2)).toSorted()).toEqual(
      Array.from({ length: 12 }, (_, count) => `boss${count}@x.co`).toSorted(),
    );
    expect(new Set(sent.map((each) => each[0])).size).toBe(2);
  });

  test("when both write while others read on from a cursor, then nobody is missed and nobody comes twice", async () => {
    let isWriting = true;
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      let after: { createdAt: number; id: number } | null = null;
      for (let isLast = false; !isLast;) {
        isLast = !isWriting;
        const filter = { since: null, until: null, after, limit: 50 };
        const rows = await stores[1]!.read((tx) => tx.people.list(project.id, filter));
        for (const row of rows) {
          const { id, created_at: createdAt } = JSON.parse(row) as { id: string; created_at: number };
          seen.push(id);
          after = { createdAt, id: Number(id) };
        }
        if (rows.length > 0) isLast = false;
      }
    };
    const reading = read();
    const writers = stores.flatMap((store, at) => ["a", "b", "c", "d"].map((name) => write(store, `${name}${at}`)));
    await Promise.all(writers);
    isWriting = false;
    await reading;
    const { people } = await stores[0]!.read((tx) => tx.projects.counts(project.id));
    expect({ seen: seen.length, different: new Set(seen).size }).toEqual({ seen: people, different: people });
    expect(await stores[0]!.check()).toEqual([]);
  });

  test("when a job of a shared commit fails, then the others are kept", async () => {
    const work = (email: string) =>
      stores[0]!.write((tx) => sendPerson(tx, project, sendInput({ email })), { project: "all" });
    const broken = stores[0]!.write(
      async (tx) => {
        await sendPerson(tx, project, sendInput({ email: "gone@x.co" }));
        throw new Error("no");
      },
      { project: "all" },
    );
    const [kept, failed] = await Promise.allSettled([work("kept@x.co"), broken]);
    expect([kept.status, failed.status]).toEqual(["fulfilled", "rejected"]);
    const find = (email: string) => stores[1]!.read((tx) => tx.people.byEmail(project.id, email));
    expect([(await find("kept@x.co"))?.email, await find("gone@x.co")]).toEqual(["kept@x.co", null]);
  });

  test("when many writes share a commit, then each sees those before it, and one that throws is undone alone", async () => {
    const send = (email: string, isBroken = false) =>
      stores[0]!.write(
        async (tx) => {
          const sent = await sendPerson(tx, project, sendInput({ email, send: false }));
          if (isBroken) throw new Error("no");
          return sent.created;
        },
        { project: project.id },
      );
    const before = await stores[0]!.read((tx) => tx.projects.counts(project.id));
    const emails = Array.from({ length: 30 }, (_, at) => `many${at % 25}@x.co`);
    expect((await Promise.all(emails.map((email) => send(email)))).filter((isNew) => isNew)).toHaveLength(25);
    const ended = await Promise.allSettled([send("good@x.co"), send("bad@x.co", true), send("fine@x.co")]);
    expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    const after = await stores[1]!.read((tx) => tx.projects.counts(project.id));
    expect(after.people - before.people).toBe(27);
    expect(await stores[0]!.check()).toEqual([]);
  });

  test("when a statement of one job fails that nothing waited for, then that job alone is undone and told", async () => {
    const [store] = stores as [Store];
    const add = (name: string) =>
      store.write((tx) => tx.people.insert(project.id, toPerson(name)), { project: project.id });
    const broken = store.write(
      async (tx) => {
        await tx.people.insert(project.id, toPerson("undone"));
        // PostgreSQL rejects NaN as an id.
        await tx.requests.setProperties(project.id, Number.NaN, {});
        await tx.people.insert(project.id, toPerson("undone too"));
      },
      { project: project.id },
    );
    const ended = await Promise.allSettled([add("before"), broken, add("after")]);
    expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    const find = (name: string) => stores[1]!.read((tx) => tx.people.byEmail(project.id, `${name}@x.co`));
    const found = await Promise.all(["before", "undone", "undone too", "after"].map(find));
    expect(found.map((person) => person !== null)).toEqual([true, false, false, true]);
    expect(await store.check()).toEqual([]);
  });

  test("when a write of one project takes its time, then another's surveys are claimed, sent and recorded", async () => {
    const [store] = stores as [Store];
    const other = await store.write(async (tx) => (await tx.projects.byName("b")) ?? addProject(tx, "b"), {
      project: "all",
    });
    await store.write(
      async (tx) => {
        await pauseSending(tx, project);
        await sendPerson(tx, other, sendInput({ email: "due@x.co" }));
      },
      { project: "all" },
    );
    const slow = new AbortController();
    const held = store.write(() => systemClock.sleep(60_000, slow.signal), { project: project.id });
    const [claimer, onUnknown, onError] = ["one", "hold", vi.fn<(error: unknown) => void>()] as const;
    const ended: string[] = [];
    const scheduler = new Scheduler({
      store,
      clock: systemClock,
      claimer,
      heartbeat: new Heartbeat({ store, clock: systemClock, claimer, onUnknown }),
      senders: [toNobody],
      maxAgeSeconds: null,
      onUnknown,
      onOutcome: (due, { kind }) => {
        ended.push(`${"person" in due ? due.person.email : ""} ${kind}`);
        slow.abort();
      },
      onError,
    });
    scheduler.start();
    await expect(held).rejects.toThrow("abort");
    await scheduler.stop();
    expect([ended, onError.mock.calls]).toEqual([["due@x.co sent"], []]);
  });

  test("when another process writes in the middle of a read, then the read sees what it saw at first", async () => {
    const [reader, writer] = stores as [Store, Store];
    const email = "meanwhile@x.co";
    const seen = await reader.read(async (tx) => {
      const before = await tx.projects.counts(project.id);
      await writer.write((other) => sendPerson(other, project, sendInput({ email, send: false })), {
        project: project.id,
      });
      return { before, after: await tx.projects.counts(project.id), found: await tx.people.byEmail(project.id, email) };
    });
    expect(seen).toEqual({ before: seen.before, after: seen.before, found: null });
    expect(await reader.read((tx) => tx.people.byEmail(project.id, email))).toMatchObject({ email });
  });

  test("when a write names a project and changes another, then it is refused", async () => {
    const other = await stores[0]!.write(async (tx) => (await tx.projects.byName("b")) ?? addProject(tx, "b"), {
      project: "all",
    });
    const crossing = stores[0]!.write((tx) => sendPerson(tx, other, sendInput({ email: "x@x.co" })), {
      project: project.id,
    });
    await expect(crossing).rejects.toThrow(`a write of project ${project.id} changes project ${other.id}`);
  });
});

describe.skipIf(!hasPostgres)("a store that is watched", () => {
  test("when writes share commits, wait and are cut off, then it tells of each, and how many connections there are", async () => {
    const url = await newDatabase();
    const seen = { jobs: 0, rolledBack: 0, locks: 0, retries: [] as string[], slow: [] as string[] };
    const store = await openPostgresStore({
      url,
      clock: systemClock,
      onCommit: ({ outcome, jobs }) => (outcome === "committed" ? (seen.jobs += jobs) : (seen.rolledBack += jobs)),
      onRetry: (sqlstate) => seen.retries.push(sqlstate),
      onLocked: () => (seen.locks += 1),
      onEvent: (event) => event.kind === "slow" && seen.slow.push(event.statement),
    });
    const project = await store.write((tx) => addProject(tx, "default"), { project: "all" });
    await Promise.all(
      ["a", "b", "c"].map((name) => store.write((tx) => tx.people.insert(1, toPerson(name)), { project: "all" })),
    );
    await expect(store.write(() => Promise.reject(new Error("no")), { project: project.id })).rejects.toThrow("no");
    const cut = store.write(
      async (tx) => {
        if (seen.retries.length === 0)
          await ask(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'");
        await tx.people.insert(1, toPerson("d"));
      },
      { project: "all" },
    );
    await cut;
    // The store's own background work can share a commit with these.
    expect([seen.jobs >= 5, seen.locks >= 5, seen.rolledBack]).toEqual([true, true, 1]);
    expect([seen.retries, seen.slow]).toEqual([[expect.stringMatching(/^(?:57P01|none)$/)], []]);
    expect(await store.oldestTransaction()).toBe(0);
    expect(store.connections()).toEqual({ active: 0, idle: expect.any(Number) as number, waiting: 0 });
    await store.close();
  });
});

describe.skipIf(!hasPostgres)("a first start", () => {
  test("when four start at once on an empty database, then one makes the schema and one key", async () => {
    const url = await newDatabase();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open(url)));
    const keys = await Promise.all(stores.map((store) => ensureFirstKey(store, systemRandom, null)));
    expect(keys.filter((key) => key !== null)).toHaveLength(1);
    const names = await stores[0]!.read(async (tx) => (await tx.projects.list()).map(({ name }) => name));
    expect(names).toEqual(["default"]);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("when a newer version adds to the schema while an older one works, then that goes on, and starts no more", async () => {
    const url = await newDatabase();
    const old = await open(url);
    const project = await old.write((tx) => addProject(tx, "default"), { project: "all" });
    const work = { count: 0, isOver: false };
    const saveOne = () =>
      old.write((tx) => sendPerson(tx, project, sendInput({ email: `n${(work.count += 1)}@x.co`, send: false })), {
        project: "all",
      });
    const working = (async () => {
      while (!work.isOver) {
        await saveOne();
        await old.read((tx) => tx.people.byEmail(project.id, "n1@x.co"));
      }
    })();
    const client = new Client({ connectionString: url });
    await client.connect();
    // Another session locks a table for longer than the migration waits.
    const dump = new Client({ connectionString: url });
    await dump.connect();
    await dump.query("BEGIN; LOCK TABLE people IN ACCESS SHARE MODE");
    const pauses: number[] = [];
    const sleep = async (ms: number): Promise<void> => {
      pauses.push(ms);
      await dump.query("ROLLBACK");
    };
    await expect.poll(() => work.count).toBeGreaterThan(3);
    const migrations = [...MIGRATIONS, ADDITION];
    const moved = await migrateServer(client, { clock: { ...systemClock, sleep }, mayMigrate: true, migrations });
    expect([moved, pauses]).toEqual([{ from: newestVersion(MIGRATIONS), to: 9999 }, [1000]]);
    await client.query("UPDATE people SET later = 'new'");
    await saveOne();
    work.isOver = true;
    await working;
    expect((await old.read((tx) => tx.projects.counts(project.id))).people).toBe(work.count);
    expect(await old.check()).toEqual([]);
    await expect(open(url)).rejects.toThrow(`newer version (schema 9999, this one knows ${newestVersion(MIGRATIONS)})`);
    for (const each of [old, { close: () => client.end() }, { close: () => dump.end() }]) await each.close();
  });

  test("when the schema is newer, another program's or may not be made, then it is refused by name", async () => {
    const url = await newDatabase();
    const refused = openPostgresStore({ url, clock: systemClock, mayMigrate: false });
    await expect(refused).rejects.toThrow("the database has schema 0 and this version needs");
    const mustExist = { url, clock: systemClock, mayCreate: false };
    await expect(openPostgresStore(mustExist)).rejects.toThrow("the database is empty");
    const events: string[] = [];
    await (await openPostgresStore({ url, clock: systemClock, onEvent: ({ kind }) => events.push(kind) })).close();
    await (await openPostgresStore(mustExist)).close();
    expect(events).toEqual(["created"]);
    await ask(url, "INSERT INTO schema_versions VALUES (9999, 0)");
    await expect(open(url)).rejects.toThrow("written by a newer version (schema 9999");
    const foreign = await newDatabase();
    await ask(foreign, "CREATE TABLE theirs (id INT)");
    await expect(open(foreign)).rejects.toThrow("tables of another program");
    await ask(foreign, "CREATE TABLE schema_migrations (version BIGINT); CREATE TABLE survey_requests (id BIGINT)");
    await expect(open(foreign)).rejects.toThrow("copy it with `service backup` of that version");
  });

  test("when an empty database cannot store every character, then it is refused", async () => {
    for (const encoding of ["LATIN1", "SQL_ASCII"])
      await expect(newDatabase(encoding).then(open)).rejects.toThrow(
        `the database has the encoding ${encoding}; UTF8 is required`,
      );
  });
});

describe.skipIf(!hasPostgres)("a server that goes away", () => {
  let cluster: Cluster;
  let store: Store;
  beforeAll(async () => {
    cluster = startCluster({ port: 5433 });
    await administer(cluster, "CREATE DATABASE one");
    store = await open(cluster.url("one"));
    await store.write((tx) => addProject(tx, "default"), { project: "all" });
  });
  afterAll(() => store.close());

  const add = (email: string) =>
    store.write((tx) => sendPerson(tx, { id: 1, name: "default" }, sendInput({ email })), { project: 1 });

  test("when connections are cut, then the work is done again on others", async () => {
    const adding = Promise.all(Array.from({ length: 40 }, (_, at) => add(`cut${at}@x.co`)));
    await administer(
      cluster,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'surveyctl'",
    );
    expect(await adding).toHaveLength(40);
    expect(await store.check()).toEqual([]);
  });

  test("when it is down, then work is refused as unavailable, and goes on once it is back", async () => {
    cluster.stop("fast");
    await expect(add("down@x.co")).rejects.toBeInstanceOf(UnavailableError);
    await expect(store.read((tx) => tx.projects.list())).rejects.toBeInstanceOf(StoreDatabaseError);
    expect(store.trouble()?.message).toMatch(/^the database cannot be reached/);
    cluster.start();
    expect((await add("up@x.co")).created).toBe(true);
    expect(store.trouble()).toBeNull();
    expect(await store.read((tx) => tx.people.byEmail(1, "down@x.co"))).toBeNull();
  }, 30_000);
});

const answered = async (outcomes: readonly CommitOutcome[], losses = 1): Promise<unknown> => {
  const left = [...outcomes];
  const state = { runs: 0 };
  const run = async () => {
    state.runs += 1;
    const end = { outcome: "committed", answers: [] } as const;
    if (state.runs <= losses)
      throw new CommitLost({ xid: "7", project: 1, version: 3 }, end, { cause: new Error("cut") });
    return end;
  };
  const options = {
    clock: { ...systemClock, sleep: () => Promise.resolve() },
    random: systemRandom,
    askOutcome: async () => left.shift() ?? ("unknown" as const),
    unprepare: () => expect.unreachable(),
  };
  return withRetries(options, run).then(
    () => state.runs,
    (error: unknown) => error,
  );
};

describe("an answer to COMMIT that is lost", () => {
  test.each([
    [["committed"], 1],
    [["in progress", "committed"], 1],
    [["aborted"], 2],
  ] as const)("when the server says %j, then the work is done once", async (outcomes, runs) => {
    expect(await answered(outcomes)).toBe(runs);
  });

  test("when the server does not know, then nobody is told that it was done", async () => {
    expect(await answered(["unknown"])).toBeInstanceOf(UnavailableError);
  });

  test("when it is lost again and again, then the database is out of reach", async () => {
    expect(
      await answered(
        Array.from({ length: 5 }, () => "aborted" as const),
        5,
      ),
    ).toBeInstanceOf(UnavailableError);
  });
});
