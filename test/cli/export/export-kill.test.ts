import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { afterEach, beforeEach, expect, it } from "vitest";
import { textOf } from "../../../src/cli/export/sources.ts";
import type { JsonObject } from "../../../src/contract/json.ts";
import { responseRow, startListService, type ListService } from "../../helpers/list-service.ts";
import { runInside } from "../../helpers/in-process.ts";
import { isLong, size } from "../../helpers/long.ts";
import { bareEnvironment, follow, PROGRAM, startProgram } from "../../helpers/run-cli.ts";

const START = 1_760_000_000;
const KILLS = size(2, 20);

let folder = "";
let rows: JsonObject[] = [];
let service: ListService;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-kill-"));
  rows = Array.from({ length: 300 }, (_, index) => responseRow(index + 1, START + index * 60));
  service = await startListService({
    lists: { survey_responses: rows },
    onRequest: async () => {
      await new Promise((resolve) => setTimeout(resolve, 3));
      return null;
    },
  });
});
afterEach(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const versionsOf = (csv: string): string[] => {
  const records: Record<string, string>[] = parse(csv, { columns: true });
  return records.map(({ id = "", comment = "" }) => `${id} ${comment}`);
};
const asVersions = (some: readonly JsonObject[]): string[] =>
  some.map((row) => `${textOf(row, "id")} ${textOf(row, "comment")}`);

async function killed(args: readonly string[], afterMs: number): Promise<boolean> {
  const { child, ended } = startProgram({ args, home: folder, env: service.env });
  child.stdin.end();
  const timer = setTimeout(() => child.kill("SIGKILL"), afterMs);
  const { signal } = await ended;
  clearTimeout(timer);
  return signal === "SIGKILL";
}

async function killedAtRequest(args: readonly string[], count: number): Promise<boolean> {
  const { child, ended } = startProgram({ args, home: folder, env: service.env });
  child.stdin.end();
  while (service.requests.length < count && child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 2));
  child.kill("SIGKILL");
  return (await ended).signal === "SIGKILL";
}

async function runToEnd(args: readonly string[]): Promise<number> {
  const began = performance.now();
  const { status, stderr } = await runInside({ args, home: folder, env: service.env });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  return performance.now() - began;
}

it(`adds each version of each row exactly once, killed at ${KILLS} moments`, async () => {
  const file = path.join(folder, "r.csv");
  const args = [
    "responses",
    "export",
    "--per-page",
    "10",
    "--append",
    "--out",
    file,
    "--state",
    path.join(folder, "r.state"),
  ];
  const expected: string[] = [];
  let tookMs = 400;
  let deaths = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    if (await killed(args, tookMs * ((kill + 0.5) / KILLS))) deaths += 1;
    if (kill % 5 !== size(1, 4)) continue;
    tookMs = Math.max(tookMs / 2, await runToEnd(args));
    const now = Math.floor(Date.now() / 1000);
    rows.push(responseRow(1000 + kill, START - kill, { updated_at: now }));
    const edited = rows[kill];
    if (edited !== undefined) expected.push(...asVersions([edited]));
    Object.assign(edited ?? {}, { comment: `edited ${kill}`, updated_at: now });
  }
  await runToEnd(args);
  expect(deaths).toBeGreaterThan(KILLS / 4);
  expect(versionsOf(await readFile(file, "utf8")).toSorted()).toEqual([...expected, ...asVersions(rows)].toSorted());
}, 120_000);

it("leaves the old file intact, and never half a file under its name", async () => {
  const file = path.join(folder, "r.csv");
  await writeFile(file, "old\n");
  const args = ["responses", "export", "--per-page", "5", "--out", file];
  for (const afterMs of isLong ? [150, 200, 250, 300, 350] : [200]) {
    await killed(args, afterMs);
    const content = await readFile(file, "utf8");
    expect(content === "old\n" ? asVersions(rows) : versionsOf(content)).toEqual(asVersions(rows));
    await writeFile(file, "old\n");
  }
  expect(
    (await readdir(folder)).filter(
      (name) => name !== "r.csv" && !name.endsWith(".surveyctl-tmp") && !name.startsWith("."),
    ),
  ).toEqual([]);
}, 60_000);

it.each([
  ["", "was not written"],
  ["old\n", "is unchanged"],
])(
  "ends with 130 and no trace when it is interrupted over %j",
  async (old, said) => {
    const file = path.join(folder, "r.csv");
    if (old !== "") await writeFile(file, old);
    const { child, ended } = startProgram({
      args: ["responses", "export", "--per-page", "1", "--out", file],
      home: folder,
      env: service.env,
    });
    child.stdin.end();
    while (service.requests.length < 20) await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill("SIGINT");
    expect(await ended).toMatchObject({
      status: 130,
      stdout: "",
      stderr: expect.stringContaining(`note: ${file} ${said}\n`) as string,
    });
    expect((await readdir(folder)).filter((name) => name.includes("r.csv"))).toEqual(old === "" ? [] : ["r.csv"]);
    expect(await readFile(file, "utf8").catch(() => "")).toBe(old);
  },
  60_000,
);

const isLeft = (name: string): boolean => name.startsWith("r.csv") && name.endsWith(".surveyctl-tmp");

it("removes what killed runs left of the same file, and of no other", async () => {
  const file = path.join(folder, "r.csv");
  const args = ["responses", "export", "--per-page", "1", "--out", file];
  const others = ["r.csv.gz.abc.surveyctl-tmp", "r.csvx.abc.surveyctl-tmp"];
  for (const name of others) await writeFile(path.join(folder, name), "");
  expect(await killedAtRequest(args, 20)).toBe(true);
  expect((await readdir(folder)).filter(isLeft)).toHaveLength(3);
  const state = path.join(folder, "r.state");
  await writeFile(`${state}.abc.surveyctl-tmp`, "");
  await runToEnd(["responses", "export", "--out", file, "--state", state]);
  expect((await readdir(folder)).filter((name) => name.startsWith("r.state"))).toEqual(["r.state"]);
  expect((await readdir(folder)).filter(isLeft).toSorted()).toEqual(others.toSorted());
  expect((await readdir(folder)).filter((name) => name.endsWith("lock"))).toEqual([]);
}, 60_000);

it("refuses a second run that adds to the same file, and loses no row", async () => {
  const file = path.join(folder, "r.csv");
  const args = ["responses", "export", "--append", "--out", file];
  const { child, ended } = startProgram({ args: [...args, "--per-page", "1"], home: folder, env: service.env });
  child.stdin.end();
  while (service.requests.length < 20) await new Promise((resolve) => setTimeout(resolve, 5));
  const second = await runInside({ args, home: folder, env: service.env });
  expect(second).toMatchObject({ status: 2, stderr: expect.stringContaining("is held by another run") as string });
  expect(await ended).toMatchObject({ status: 0 });
  await runToEnd(args);
  expect(versionsOf(await readFile(file, "utf8"))).toHaveLength(600);
}, 60_000);

it.each([
  ["the rows do not fit", 8, "r.csv"],
  ["not even the state's lock fits", 0, "r.state"],
])("ends with 1 and leaves the old file when the disk is full: %s", async (_, blocks, place) => {
  const shell = `ulimit -f ${blocks}; '${process.execPath}' '${PROGRAM}' responses export --out r.csv --state r.state`;
  await writeFile(path.join(folder, "r.csv"), "old");
  const child = spawn("bash", ["-c", shell], { cwd: folder, env: bareEnvironment(folder, service.env) });
  child.stdin.end();
  const { status, stderr } = await follow(child).ended;
  expect([status, stderr]).toEqual([1, `error: ${place}: the file may not become larger\n`]);
  expect([await readdir(folder), await readFile(path.join(folder, "r.csv"), "utf8")]).toEqual([["r.csv"], "old"]);
});
