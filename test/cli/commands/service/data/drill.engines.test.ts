import { chmodSync, copyFileSync, readdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { COUNT_ALL } from "../../../../../src/service/sql/lists/recount.ts";
import { type Served, startServe } from "../../../../helpers/serve.ts";
import type { Ended } from "../../../../helpers/run-cli.ts";
import { openRawDatabase } from "../../../../service/store/engines.ts";

let served: Served;
let folder = "";
let number = 0;
const file = (name: string): string => path.join(folder, name);
const run = (...args: string[]): Promise<Ended> => served.run(args);
const drill = (target: string, ...args: string[]): Promise<Ended> =>
  run("service", "backup", "--drill", target, ...args, ...served.place);

async function api(method: string, route: string, body?: object): Promise<Record<string, unknown>> {
  const headers = { authorization: `Basic ${btoa(`${served.apiKey}:`)}`, "content-type": "application/json" };
  const answer = await fetch(`${served.baseUrl}/v1/${route}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

async function respond(day: string, score: number): Promise<{ readonly id: string; readonly person: string }> {
  number += 1;
  const person = await api("POST", "people.json", { email: `p${number}@example.com`, send: false });
  const created_at = Math.floor(Date.parse(day) / 1000);
  const { id } = await api("POST", "survey_responses.json", { person: person["id"], score, created_at });
  return { id: String(id), person: String(person["id"]) };
}

async function change(name: string, ...statements: string[]): Promise<void> {
  const database = await openRawDatabase(file(name));
  for (const sql of statements) database.exec(sql);
  database.close();
}

beforeAll(async () => {
  served = await startServe();
  for (const [day, score] of [
    ["2026-01-01", 10],
    ["2026-01-31", 9],
    ["2026-01-31", 0],
    ["2026-03-01", 7],
  ] as const)
    await respond(day, score);
});
afterAll(() => served.stop());
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-drilled-"));
  await run("service", "backup", file("b.db"), ...served.place, "-q");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const whole = expect.any(Number) as number;

describe("a good backup", () => {
  it("is restored, counted and compared, and nothing is left of it", async () => {
    const before = [
      readFileSync(file("b.db")),
      readdirSync(tmpdir()).filter((name) => name.startsWith("surveyctl-drill-")),
    ];
    const { status, stdout, stderr } = await drill(file("b.db"), "--json");
    const shown = JSON.parse(stdout) as Record<string, unknown>;
    expect([status, stderr, shown]).toEqual([
      0,
      "",
      {
        file: file("b.db"),
        made_at: whole,
        age_seconds: whole,
        duration_seconds: whole,
        projects: 1,
        people: number,
        responses: number,
        surveys: 0,
        differences: [],
        missing: [],
      },
    ]);
    const now = Date.now() / 1000;
    expect(Number(shown["made_at"]) + Number(shown["age_seconds"])).toBeCloseTo(now, -1);
    expect([
      readFileSync(file("b.db")),
      readdirSync(tmpdir()).filter((name) => name.startsWith("surveyctl-drill-")),
    ]).toEqual(before);
    expect(readdirSync(folder)).toEqual(["b.db"]);
  });

  it("is the newest of a folder", async () => {
    copyFileSync(file("b.db"), file("b.db.1"));
    utimesSync(file("b.db.1"), 1, 1);
    writeFileSync(file("notes.txt"), "kept by hand");
    const { status, stdout } = await drill(folder, "--columns", "file");
    expect([status, stdout]).toEqual([0, `${file("b.db")}\n`]);
    truncateSync(file("b.db"));
    expect(await drill(folder)).toMatchObject({ status: 6, stderr: `error: ${file("b.db")} is empty\n` });
  });

  it("may differ from the data by what happened since, month by month", async () => {
    const [changed, gone] = [await respond("2026-02-01", 10), await respond("2026-02-02", 10)];
    const erased = await respond("2026-02-03", 0);
    await run("service", "backup", file("c.db"), ...served.place, "-q");
    await api("PUT", `survey_responses/${changed.id}.json`, { score: 0 });
    await api("DELETE", `people/${gone.person}.json`);
    await run("service", "erase", `p${number}@example.com`, "--yes", ...served.place);
    const added = await respond("2026-01-15", 10);
    await respond(new Date().toISOString(), 3);
    const { status, stdout, stderr } = await drill(file("c.db"), "--json");
    const { differences, missing } = JSON.parse(stdout) as Record<string, unknown>;
    // A drill leaves out people in the erasure log next to the data file. PostgreSQL keeps its log in the database.
    const erasedToo = served.place[0] === "--database";
    expect([status, stderr, missing, differences]).toEqual([
      0,
      "",
      [],
      [
        `2026-02 in project default: ${erasedToo ? "3 responses (NPS 33)" : "2 responses (NPS 100)"}, now 1 response (NPS -100): 0 added, 1 changed, ${erasedToo ? 2 : 1} deleted, 0 missing`,
        "2026-01 in project default: 3 responses (NPS 33), now 4 responses (NPS 50): 1 added, 0 changed, 0 deleted, 0 missing",
      ],
    ]);
    expect(erased.id).not.toBe(added.id);
    await api("DELETE", `people/${changed.person}.json`);
    await api("DELETE", `people/${added.person}.json`);
  });
});

describe("a backup that can't be used", () => {
  it.each<[string, (name: string) => Promise<void> | void, string]>([
    ["empty", (name) => truncateSync(name), "$ is empty"],
    ["cut off", (name) => truncateSync(name, 40_960), "$: the file is damaged"],
    ["text", (name) => writeFileSync(name, "a mistake"), "$: the file is not a SQLite database"],
    [
      "of a newer version",
      () => change("b.db", "INSERT INTO schema_versions VALUES (99, 1)"),
      "$: this file was written by a newer version",
    ],
    [
      "of another program",
      () => change("b.db", "DROP TABLE schema_versions"),
      "$: this is a SQLite file of another program",
    ],
    [
      "without rows that were there",
      () => change("b.db", "DELETE FROM responses WHERE score = 0", "DELETE FROM row_counts", ...COUNT_ALL),
      "$ is incomplete: it lacks 1 response of 2026-01 in project default",
    ],
    [
      "without a row that others refer to",
      () => change("b.db", "PRAGMA foreign_keys = OFF", "DELETE FROM people WHERE id = 2"),
      "$: the file is damaged: a row of responses has no people",
    ],
    [
      "without people",
      () => change("b.db", ...["responses", "people", "row_counts"].map((table) => `DELETE FROM ${table}`)),
      "$ is empty: it has no people and no responses",
    ],
    [
      "with a log",
      (name) => writeFileSync(`${name}-wal`, "x"),
      "$ is in use, or was when its service was killed: the log $-wal is next to it",
    ],
  ])("%s fails by one sentence", async (_, spoil, sentence) => {
    await spoil(file("b.db"));
    const { status, stderr } = await drill(file("b.db"));
    const lines = stderr.split("\n");
    expect([status, lines.length]).toEqual([6, 2]);
    expect(lines[0]).toContain(`error: ${sentence.replaceAll("$", file("b.db"))}`);
  });

  it("of another service fails", async () => {
    const other = await startServe();
    await other.run(["people", "add", "--email", "eve@example.com", "--no-send"]);
    await other.run(["service", "backup", file("other.db"), ...other.place]);
    await other.stop();
    // Test databases are copies of one template, so they share its secret.
    await change("other.db", "UPDATE store_secrets SET value = 'its own' WHERE name = 'erasure'");
    expect(await drill(file("other.db"))).toMatchObject({
      status: 6,
      stdout: "",
      stderr: `error: ${file("other.db")} is a backup of another service\n`,
    });
  });

  it("fails when it's older than --max-age by the moment in it, one day if nothing is said", async () => {
    await change("b.db", "UPDATE store_marks SET value = value - 90000 WHERE name = 'backup begun'");
    expect(await drill(file("b.db"), "--columns", "responses")).toMatchObject({
      status: 6,
      stdout: expect.stringMatching(/^\d+\n$/) as string,
      stderr: expect.stringMatching(/^error: \S+b\.db is older than --max-age: it was made at 20\S+Z\n$/) as string,
    });
    expect(await drill(file("b.db"), "--max-age", "2d")).toMatchObject({ status: 0 });
  });

  it("fails when a folder has none", async () => {
    await mkdir(file("none"));
    expect(await drill(file("none"))).toMatchObject({ status: 6, stderr: `error: ${file("none")} has no backup\n` });
  });
});

describe("litestream", () => {
  it("is run where it is installed, and missed by name where it isn't", async () => {
    const words = [
      "service",
      "backup",
      "--drill",
      "litestream:/srv/survey.db",
      "--columns",
      "file,responses",
      ...served.place,
    ];
    expect(await served.run(words, { env: { PATH: folder } })).toMatchObject({
      status: 1,
      stdout: "",
      stderr:
        "error: there is no program litestream, which restores its own backups\nhint: install it from https://litestream.io, or add its folder to PATH\n",
    });
    const install = (script: string): void => {
      writeFileSync(file("litestream"), `#!/bin/sh\n${script}\n`);
      chmodSync(file("litestream"), 0o755);
    };
    const env = { PATH: `${folder}:${process.env["PATH"]}` };
    install(`test "$1 $2 $4" = "restore -o /srv/survey.db" && cp "${file("b.db")}" "$3"`);
    expect(await served.run(words, { env })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^litestream:.srv.survey\.db\t\d+\n$/),
    });
    install("echo 'starting' >&2; echo 'no matching backups found' >&2; exit 1");
    expect(await served.run(words, { env })).toMatchObject({
      status: 6,
      stderr: "error: litestream cannot restore /srv/survey.db: no matching backups found\n",
    });
  });
});

it.each([
  [["--keep", "3"], "--drill and --keep cannot be used together"],
  [["--max-age", "x"], '--max-age: "x" is not a duration'],
])("refuses %j", async (args, message) => {
  const { status, stderr } = await drill(file("b.db"), ...args);
  expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
});

it("refuses a file that isn't there, and --max-age without a drill", async () => {
  expect(await drill(file("x.db"))).toMatchObject({ status: 2, stderr: `error: there is no file ${file("x.db")}\n` });
  expect(await run("service", "backup", file("x.db"), "--max-age", "1d", ...served.place)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("--max-age requires --drill") as string,
  });
});
