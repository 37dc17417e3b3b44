import { copyFile, link, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { openDataFile } from "../../../src/service/data-file/open-data-file.ts";
import { ensureProject } from "../../../src/service/first-project.ts";
import { runInside } from "../../helpers/in-process.ts";
import type { Ended } from "../../helpers/run-cli.ts";
import { openRawDatabase } from "../store/engines.ts";

const state = { folder: "" };
const file = (name: string): string => path.join(state.folder, name);
const run = (...args: string[]): Promise<Ended> => runInside({ args, home: state.folder });

beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-foreign-"));
  const store = await openDataFile({ dataFile: file("survey.db"), clock: systemClock, random: systemRandom });
  await ensureProject(store);
  await store.close();
  await copyFile(file("survey.db"), file("b.db"));
});
afterEach(() => rm(state.folder, { recursive: true, force: true }));

async function change(name: string, ...statements: string[]): Promise<void> {
  const database = await openRawDatabase(file(name));
  for (const sql of statements) database.exec(sql);
  database.close();
}

describe("a file with a part that is not ours", () => {
  test.each([
    [
      "trigger",
      ["CREATE TRIGGER undo AFTER UPDATE ON people BEGIN UPDATE people SET unsubscribed_at = NULL; END"],
      "a trigger that is not surveyctl's: undo, on people",
    ],
    [
      "trigger that an older version had",
      ["CREATE TRIGGER delivery_counts_of_new AFTER INSERT ON messages BEGIN SELECT 1; END"],
      "a trigger that is not surveyctl's: delivery_counts_of_new, on messages",
    ],
    [
      "unique index",
      ["CREATE UNIQUE INDEX one_name ON people (name)"],
      "an index that is not surveyctl's: one_name, on people",
    ],
    [
      "table that would keep our rows from being deleted",
      ["CREATE TABLE notes (text TEXT, project INTEGER REFERENCES Projects (id))"],
      "a foreign key that is not surveyctl's: notes, on projects",
    ],
  ])("when it has a %s, then serve and restore refuse it by name", async (_, statements, what) => {
    await change("survey.db", ...statements);
    await change("b.db", ...statements);
    const before = await readFile(file("b.db"));
    const sentence = `the file has ${what}; drop it to use the file\n`;
    expect(await run("serve", "--data", file("survey.db"), "--port", "0")).toMatchObject({
      status: 1,
      stdout: "",
      stderr: `error: ${file("survey.db")}: ${sentence}`,
    });
    expect(await run("service", "restore", file("b.db"), "--data", file("new.db"))).toMatchObject({
      status: 1,
      stdout: "",
      stderr: `error: ${file("b.db")}: ${sentence}`,
    });
    expect((await readFile(file("b.db"))).equals(before)).toBe(true);
  });
});

const GUESTS = [
  "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
  "CREATE TABLE _litestream_lock (id INTEGER)",
  "INSERT INTO _litestream_seq VALUES (1, 7)",
  "CREATE TRIGGER count_seq AFTER UPDATE ON _litestream_seq BEGIN SELECT 1; END",
  "CREATE VIEW names AS SELECT name FROM people",
  "CREATE INDEX people_names ON people (name)",
  "ALTER TABLE people ADD COLUMN nickname TEXT",
];

test("tables of other programs are left alone by every command, and stay in a backup", async () => {
  await change("survey.db", ...GUESTS);
  const data = ["--data", file("survey.db")];
  expect(await run("service", "project", "list", ...data)).toMatchObject({ status: 0 });
  expect(await run("service", "backup", file("copy.db"), ...data)).toMatchObject({ status: 0 });
  expect(await run("service", "restore", file("copy.db"), "--data", file("new.db"))).toMatchObject({ status: 0 });
  const copy = await openRawDatabase(file("copy.db"));
  expect(copy.all("SELECT seq FROM _litestream_seq").map(({ seq }) => seq)).toEqual([7]);
  copy.close();
});

/** The data file and its WAL, without the WAL index. */
async function bytesOf(name: string): Promise<readonly Buffer[]> {
  return Promise.all([readFile(file(name)), readFile(file(`${name}-wal`))]);
}

const copyAs = async (name: string, ...statements: string[]): Promise<void> => {
  const database = await openRawDatabase(file("b.db"));
  database.exec("PRAGMA journal_mode = WAL");
  for (const sql of statements) database.exec(sql);
  for (const suffix of ["", "-wal"]) await copyFile(file(`b.db${suffix}`), file(`${name}${suffix}`));
  database.close();
};

describe("a file that is refused keeps the log of a killed process", () => {
  test.each([
    ["of a newer version", "INSERT INTO schema_versions VALUES (99, 1)", "written by a newer version"],
    ["with a trigger", "CREATE TRIGGER undo AFTER UPDATE ON people BEGIN SELECT 1; END", "a trigger that is not"],
    ["of another program", "DROP TABLE schema_versions", "a SQLite file of another program"],
    ["that was moved", "INSERT INTO store_marks VALUES ('moved', '/there')", "the data was moved to /there"],
  ])("%s", async (_, statement, what) => {
    await copyAs("left.db", statement);
    const before = await bytesOf("left.db");
    for (const args of [
      ["serve", "--port", "0"],
      ["service", "project", "list"],
    ]) {
      const { status, stderr } = await run(...args, "--data", file("left.db"));
      expect([status, stderr]).toEqual([1, expect.stringContaining(what)]);
    }
    expect(await bytesOf("left.db")).toEqual(before);
  });
});

test("a file with a rollback journal is looked at like any other", async () => {
  await change("b.db", "INSERT INTO store_marks VALUES ('moved', '/there')");
  await writeFile(file("b.db-journal"), "");
  const { status, stderr } = await run("service", "project", "list", "--data", file("b.db"));
  expect([status, stderr]).toEqual([1, expect.stringContaining("the data was moved to /there")]);
});

test("a file that is refused gets no log of its own", async () => {
  await change("b.db", "PRAGMA journal_mode = WAL", "INSERT INTO schema_versions VALUES (99, 1)");
  const before = await readFile(file("b.db"));
  expect(await run("service", "project", "list", "--data", file("b.db"))).toMatchObject({ status: 1 });
  expect((await readdir(state.folder)).filter((name) => name.startsWith("b.db"))).toEqual(["b.db"]);
  expect((await readFile(file("b.db"))).equals(before)).toBe(true);
});

test("a file with a second name is refused under both, and served again when one is left", async () => {
  await link(file("survey.db"), file("other.db"));
  for (const name of ["survey.db", "other.db"])
    expect(await run("service", "project", "list", "--data", file(name))).toMatchObject({
      status: 1,
      stderr: `error: ${file(name)}: the file has 2 names (hard links); keep only the one with its log (-wal)\n`,
    });
  expect((await readdir(state.folder)).filter((name) => /-(?:wal|shm)$/.test(name))).toEqual([]);
  await rm(file("other.db"));
  expect(await run("service", "project", "list", "--data", file("survey.db"))).toMatchObject({ status: 0 });
});
