/** Data files and backups with parts that are not ours: refused by name, by every command that opens them. */
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
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
      "trigger in place of ours",
      [
        "DROP TRIGGER delivery_counts_of_new",
        "CREATE TRIGGER delivery_counts_of_new AFTER INSERT ON messages BEGIN SELECT 1; END",
      ],
      "a trigger that is not surveyctl's: delivery_counts_of_new, on messages",
    ],
    ["column", ["ALTER TABLE people ADD COLUMN nickname TEXT"], "a column that is not surveyctl's: people.nickname"],
    [
      "quoted column",
      [`ALTER TABLE responses ADD COLUMN "my note, (of 2)" TEXT`],
      "a column that is not surveyctl's: responses.my note, (of 2)",
    ],
    ["table", ["CREATE TABLE notes (id INTEGER)"], "a table that is not surveyctl's: notes"],
    [
      "index",
      ["CREATE UNIQUE INDEX one_name ON people (name)"],
      "an index that is not surveyctl's: one_name, on people",
    ],
    ["view", ["CREATE VIEW names AS SELECT name FROM people"], "a view that is not surveyctl's: names"],
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
