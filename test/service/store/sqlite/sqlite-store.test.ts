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
import { START, openFixture, peopleQuery, sendInput, type Fixture } from "../../domain/fixture.ts";
import { newDataFile, openRawDatabase } from "../engines.ts";
import { listPeople } from "../../domain/lists.ts";

const save = (fixture: Fixture, email: string) =>
  fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email, send: false })));
const emails = async (fixture: Fixture) =>
  (await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery({ perPage: 100 })))).rows.map(
    ({ email }) => email,
  );

const withStore = async (work: (fixture: Fixture, file: string) => Promise<void>): Promise<void> => {
  const file = newDataFile();
  const fixture = await openFixture({ file });
  try {
    await work(fixture, file);
  } finally {
    await fixture.store.close();
  }
};

describe("a data file", () => {
  test("when a write may wait, then it goes before the next one, or with the end of the store", async () => {
    const clock = { now: () => START * 1000, monotonic: () => 0, sleep: () => new Promise<void>(() => undefined) };
    const store = await openSqliteStore({ file: newDataFile(), clock });
    const ended: string[] = [];
    const note = (name: string, mayWaitMs: number): Promise<void> =>
      store.write(async () => void ended.push(name), { project: "all", mayWaitMs });
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
      const fixture = await openFixture({ file });
      await save(fixture, "a@x.co");
      harm(file);
      await expect(save(fixture, "b@x.co")).rejects.toMatchObject({ name: "StoreFileError", trouble: "changed" });
      expect((await fixture.store.lost).message).toContain(file);
      await expect(fixture.read(async (tx) => tx.now)).rejects.toMatchObject({ trouble: "changed" });
      await fixture.store.close();
      expect(readdirSync(path.dirname(file)).filter((name) => /-(?:wal|shm)$/.test(name))).toEqual([]);
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
    const first = await openFixture({ file });
    const writes = Array.from({ length: 20 }, (_, index) => save(first, `p${index}@x.co`));
    await first.store.close();
    await Promise.all(writes);
    await expect(save(first, "late@x.co")).rejects.toThrow("closed");
    const second = await openFixture({ file });
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
      const copy = await openFixture({ file: `${file}.backup` });
      expect([await emails(copy), await copy.store.check()]).toEqual([["a@x.co"], []]);
      await copy.store.close();
      expect([await emails(fixture), await fixture.store.check()]).toEqual([["a@x.co", "b@x.co", "c@x.co"], []]);
      await expect(fixture.store.backup(`${file}.backup`)).rejects.toThrow("already exists");
      expect(await emails(fixture)).toHaveLength(3);
    }));

  test("when a file is not ours, then it is refused and left as it is", async () => {
    const text = newDataFile();
    writeFileSync(text, "these are not the bytes of a database, whatever its name says".repeat(20));
    await expect(openFixture({ file: text })).rejects.toMatchObject({ name: "StoreFileError" });
    expect(existsSync(`${text}.owner`)).toBe(false);
    const foreign = newDataFile();
    const database = await openRawDatabase(foreign);
    database.exec("CREATE TABLE recipes (name TEXT)");
    database.close();
    await expect(openFixture({ file: foreign })).rejects.toThrow("another program");
  });
});
