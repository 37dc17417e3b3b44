import { appendFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Ended, startProgram } from "../../../helpers/run-cli.ts";
import { type Served, startServe } from "../../../helpers/serve.ts";

let served: Served;
beforeEach(async () => {
  served = await startServe();
});
afterEach(() => served.stop());

const ROWS = 150;

async function importPeople(rows: number): Promise<string> {
  const file = path.join(served.folder, "people.csv");
  const lines = Array.from({ length: rows }, (_, at) => `p${at}@example.com,Person ${at}`);
  await writeFile(file, `email,name\n${lines.join("\n")}\n`);
  await served.run(["people", "import", file, "--send", "--delay", "1d", "--quiet"]);
  return `${file}.people-import.results.csv`;
}
const undo = (results: string, ...flags: string[]): Promise<Ended> =>
  served.run(["imports", "undo", results, "--yes", ...flags]);
const count = async (): Promise<number> => Number((await served.run(["people", "list", "--count"])).stdout);

test("killed halfway, the same command finishes", async () => {
  await served.run(["people", "add", "--email", "p0@example.com", "--name", "Zero", "--no-send", "--quiet"]);
  const results = await importPeople(ROWS);
  const args = ["imports", "undo", results, "--yes", "--concurrency", "1"];
  const running = startProgram({ args, home: served.folder, env: served.env });
  await running.saying(/(?:.*\n){20}/);
  running.child.kill("SIGKILL");
  expect((await running.ended).signal).toBe("SIGKILL");
  const left = await count();
  expect([left > 1, left < ROWS]).toEqual([true, true]);
  expect(await undo(results)).toMatchObject({ status: 0, stderr: `Undone: ${ROWS} people.\n` });
  const listed = await served.run(["people", "list", "--columns", "email,name,next_survey_scheduled_at"]);
  expect(listed.stdout).toBe("p0@example.com\tZero\t\n");
}, 60_000);

test("an import can't resume while it is being undone", async () => {
  const results = await importPeople(ROWS);
  const args = ["imports", "undo", results, "--yes", "--concurrency", "1"];
  const running = startProgram({ args, home: served.folder, env: served.env });
  await running.saying(/(?:.*\n){5}/);
  const file = path.join(served.folder, "people.csv");
  await appendFile(file, "late@example.com,Late\n");
  const resumed = await served.run(["people", "import", file, "--send", "--delay", "1d", "--resume", "--quiet"]);
  expect([resumed.status, resumed.stderr.split("\n")[0]]).toEqual([
    2,
    `error: another run (process ${running.child.pid}) is importing with these results`,
  ]);
  expect((await running.ended).status).toBe(0);
  expect(await count()).toBe(0);
}, 60_000);

test("rows in doubt, and records that don't say who was created, delete nobody", async () => {
  const results = await importPeople(4);
  const journal = `${results}.journal`;
  const lines = (await readFile(journal, "utf8")).trimEnd().split("\n");
  const doubtful = lines
    .filter((line) => !line.includes('"line":3,'))
    .map((line) => (line.includes('"line":4,') ? line.replace(/"writes":.*?\]/, '"writes":[null]') : line))
    .map((line) => (line.includes('"line":5,') ? line.replace('"outcome":"scheduled"', '"outcome":"unknown"') : line))
    .map((line) => (line.includes('"line":5,') ? line.replace(/,"writes":.*?\]/, "") : line));
  await writeFile(journal, `${doubtful.join("\n")}\n`);
  const reason = "the record doesn't say what the import did, so nothing was undone";
  const ended = await undo(results);
  expect(ended.status).toBe(3);
  expect(ended.stdout.split("\n").toSorted()).toEqual([
    "",
    "2\tp0@example.com\tsurvey cancelled, person deleted\t",
    `3\t\tfailed\t${reason}`,
    `4\t\tfailed\t${reason}`,
    `5\tp3@example.com\tfailed\t${reason}`,
  ]);
  expect(await count()).toBe(3);
});

test("who was created for a response that was then refused is deleted", async () => {
  const file = path.join(served.folder, "answers.csv");
  await writeFile(file, 'email,score,additional_answers\nann@example.com,9,"[{""id"":""x""}]"\n');
  const ended = await served.run(["responses", "import", file, "--yes", "--quiet"]);
  expect([ended.status, await count()]).toEqual([3, 1]);
  const undone = await undo(`${file}.responses-import.results.csv`);
  expect([undone.status, undone.stdout]).toEqual([0, "2\tann@example.com\tperson deleted\t\n"]);
  expect(await count()).toBe(0);
});

test("a row that was sent again may have overwritten more than its record says", async () => {
  await served.run(["people", "add", "--email", "p1@example.com", "--name", "One", "--no-send", "--quiet"]);
  const results = await importPeople(2);
  const journal = `${results}.journal`;
  const lines = (await readFile(journal, "utf8")).split("\n").filter((line) => /"head"|"intent"/.test(line));
  await writeFile(journal, `${lines.join("\n")}\n`);
  const file = path.join(served.folder, "people.csv");
  await served.run(["people", "import", file, "--send", "--delay", "1d", "--resume", "--quiet"], {
    env: { SURVEYCTL_SETTLE: "1" },
  });
  expect(await readFile(results, "utf8")).toMatch(/^2,p0@example\.com,scheduled,\d+,[^,]*,,,$/m);
  expect((await undo(results)).status).toBe(3);
  expect(await count()).toBe(2);
});
