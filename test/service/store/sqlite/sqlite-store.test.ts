import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { openSqliteStore } from "../../../../src/service/store/sqlite/open-sqlite-store.ts";
import { MIGRATIONS } from "../../../../src/service/store/sql/schema/migrations.ts";
import { migrate } from "../../../../src/service/store/sqlite/engine/migrate.ts";
import { START, openFixture, peopleQuery, sendInput, type Fixture } from "../../domain/fixture.ts";
import { ENGINES, newDataFile, openRawDatabase } from "../engines.ts";
import { listPeople } from "../../domain/lists.ts";

const save = (fixture: Fixture, email: string) =>
  fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email, send: false })));
const emails = async (fixture: Fixture) =>
  (await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery({ perPage: 100 })))).rows.map(
    ({ email }) => email,
  );

const times = (fixture: Fixture): Promise<number[]> =>
  Promise.all([fixture.read(async (tx) => tx.now), fixture.write(async (tx) => tx.now)]);

describe.each(ENGINES)("%s", (engine) => {
  const withStore = async (work: (fixture: Fixture, file: string) => Promise<void>): Promise<void> => {
    const file = newDataFile();
    const fixture = await openFixture({ file, engine });
    try {
      await work(fixture, file);
    } finally {
      await fixture.store.close();
    }
  };

  test("when a write may wait, then it goes before the next one, or with the end of the store", async () => {
    // Time stands still.
    const clock = { now: () => START * 1000, monotonic: () => 0, sleep: () => new Promise<void>(() => undefined) };
    const store = await openSqliteStore({ file: newDataFile(), engine, clock });
    const ended: string[] = [];
    const note = (name: string, mayWaitMs: number): Promise<void> =>
      store.write(async () => void ended.push(name), { mayWaitMs });
    const patient = note("patient", 1);
    await store.read(async () => undefined);
    await store.read(async () => undefined);
    expect(ended).toEqual([]);
    await note("urgent", 0);
    await patient;
    expect(ended).toEqual(["patient", "urgent"]);
    const last = note("last", 1);
    await store.close();
    await last;
    expect(ended).toEqual(["patient", "urgent", "last"]);
  });

  test("when the clock is set back, then time stands still, also after a restart, and goes on when it has caught up", async () => {
    const file = newDataFile();
    const first = await openFixture({ file, engine });
    first.time.now = START + 50;
    expect(await times(first)).toEqual([START + 50, START + 50]);
    first.time.now = START - 86_400;
    expect(await times(first)).toEqual([START + 50, START + 50]);
    await first.store.close();
    const second = await openFixture({ file, engine });
    second.time.now = START + 49;
    expect(await times(second)).toEqual([START + 50, START + 50]);
    second.time.now = START + 51;
    expect(await times(second)).toEqual([START + 51, START + 51]);
    await second.store.close();
  });

  test("when the file or its log is removed or replaced, then no write is acknowledged any more", async () => {
    const harms: ((file: string) => void)[] = [
      (file) => rmSync(file),
      (file) => rmSync(`${file}-wal`),
      (file) => renameSync(file, `${file}.moved`),
      (file) => {
        copyFileSync(file, `${file}.copy`);
        renameSync(`${file}.copy`, file);
      },
    ];
    for (const harm of harms) {
      const file = newDataFile();
      const fixture = await openFixture({ file, engine });
      await save(fixture, "a@x.co");
      harm(file);
      await expect(save(fixture, "b@x.co")).rejects.toMatchObject({ name: "StoreFileError", trouble: "changed" });
      expect((await fixture.store.lost).message).toContain(file);
      await expect(fixture.read(async (tx) => tx.now)).rejects.toMatchObject({ trouble: "changed" });
      await fixture.store.close();
      const kept = readdirSync(path.dirname(file)).find((name) => /rescued/.test(name)) ?? "survey.db";
      const again = await openFixture({ file: path.join(path.dirname(file), kept), engine });
      expect(await emails(again)).toContain("a@x.co");
      await again.store.close();
    }
  });

  test("when the file is touched, or its mode changed, then nothing is wrong", () =>
    withStore(async (fixture, file) => {
      await save(fixture, "a@x.co");
      utimesSync(file, 1, 1);
      chmodSync(file, 0o640);
      await save(fixture, "b@x.co");
      expect(await emails(fixture)).toEqual(["a@x.co", "b@x.co"]);
    }));

  test("when a store is closed, then its work ends first, later work is refused, and the data is there when it opens again", async () => {
    const file = newDataFile();
    const first = await openFixture({ file, engine });
    const writes = Array.from({ length: 20 }, (_, index) => save(first, `p${index}@x.co`));
    await first.store.close();
    await Promise.all(writes);
    await expect(save(first, "late@x.co")).rejects.toThrow("closed");
    const second = await openFixture({ file, engine });
    expect(await emails(second)).toHaveLength(20);
    await second.store.close();
    expect(readdirSync(path.dirname(file))).toEqual(["survey.db"]);
  });

  test("when a backup is made while the service works, then it opens as a whole store of that moment", () =>
    withStore(async (fixture, file) => {
      await save(fixture, "a@x.co");
      await fixture.store.backup(`${file}.backup`);
      await save(fixture, "b@x.co");
      await fixture.store.vacuum();
      await save(fixture, "c@x.co");
      const copy = await openFixture({ file: `${file}.backup`, engine });
      expect([await emails(copy), await copy.store.check()]).toEqual([["a@x.co"], []]);
      await copy.store.close();
      expect([await emails(fixture), await fixture.store.check()]).toEqual([["a@x.co", "b@x.co", "c@x.co"], []]);
      await expect(fixture.store.backup(`${file}.backup`)).rejects.toThrow("already exists");
      expect(await emails(fixture)).toHaveLength(3);
    }));

  test("when a file is not ours, then it is refused and left as it is", async () => {
    const text = newDataFile();
    writeFileSync(text, "these are not the bytes of a database, whatever its name says".repeat(20));
    await expect(openFixture({ file: text, engine })).rejects.toMatchObject({ name: "StoreFileError" });
    expect(existsSync(`${text}.owner`)).toBe(false);
    const foreign = newDataFile();
    const database = await openRawDatabase(engine, foreign);
    database.exec("CREATE TABLE recipes (name TEXT)");
    database.close();
    await expect(openFixture({ file: foreign, engine })).rejects.toThrow("another program");
  });

  test("when a file is of a newer version, then it is refused; of an older one, then it is brought up to date once", async () => {
    const database = await openRawDatabase(engine);
    const next = {
      version: MIGRATIONS.length + 1,
      statements: ["CREATE TABLE extra (one TEXT)", "INSERT INTO extra VALUES ('first')"],
    };
    await migrate(database, MIGRATIONS, START);
    await migrate(database, [...MIGRATIONS, next], START);
    await migrate(database, [...MIGRATIONS, next], START);
    expect(database.all("SELECT * FROM extra").map((row) => ({ ...row }))).toEqual([{ one: "first" }]);
    await expect(migrate(database, MIGRATIONS, START)).rejects.toThrow("newer version");
    const broken = { version: next.version + 1, statements: ["CREATE TABLE half (one TEXT)", "nonsense"] };
    await expect(migrate(database, [...MIGRATIONS, next, broken], START)).rejects.toThrow("syntax error");
    expect(database.all("SELECT name FROM sqlite_master WHERE name = 'half'")).toEqual([]);
    database.close();
  });

  test("when a file has older keys of addresses, then they are renewed, and nobody is lost", async () => {
    const file = newDataFile();
    const database = await openRawDatabase(engine, file);
    await migrate(database, MIGRATIONS.slice(0, 1), START);
    database.exec("INSERT INTO projects (id, name, created_at, next_id) VALUES (1, 'default', 0, 9)");
    const people = ["É@x.co", "e\u0301@bücher.example", "\u00e9@xn--bcher-kva.example", "Ada@X.co", "\u212A@x.co"];
    for (const [index, email] of people.entries()) {
      database.all("INSERT INTO people (project_id, id, email, email_key, created_at) VALUES (1, ?, ?, ?, 0)", [
        index + 1,
        email,
        email.toLowerCase(),
      ]);
    }
    database.close();
    const fixture = await openFixture({ file, engine });
    const asked = ["É@x.co", "é@x.co", "é@Bücher.example", "ada@x.co", "\u212A@x.co", "k@x.co"];
    const found = await fixture.read(async (tx) => {
      const ids: (number | undefined)[] = [];
      for (const email of asked) ids.push((await tx.people.byEmail(1, email))?.id);
      return ids;
    });
    expect(found).toEqual([1, undefined, 3, 4, 5, undefined]);
    const listed = await fixture.read((tx) => listPeople(tx, { id: 1, name: "default" }, peopleQuery()));
    expect(listed.rows.map(({ email }) => email)).toEqual(people);
    await fixture.store.close();
  });
});
