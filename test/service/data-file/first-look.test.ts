import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemRandom } from "../../../src/runtime/random.ts";
import { lockName } from "../../../src/runtime/files/file-replacement.ts";
import { removeAbandonedCopies } from "../../../src/service/data-file/backup.ts";
import { runInside } from "../../helpers/in-process.ts";
import { startProgram, type Ended, type Running } from "../../helpers/run-cli.ts";

const state: { folder: string; running: Running[] } = { folder: "", running: [] };
const file = (name: string): string => path.join(state.folder, name);

beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-first-"));
});
afterEach(async () => {
  for (const { child } of state.running) child.kill("SIGKILL");
  await Promise.all(state.running.splice(0).map(({ ended }) => ended));
  await rm(state.folder, { recursive: true, force: true });
});

function start(args: readonly string[]): Running {
  const running = startProgram({ args, home: state.folder, env: { SURVEYCTL_API_KEY: "key-of-the-first-look" } });
  state.running.push(running);
  return running;
}

async function kill(running: Running): Promise<Ended> {
  running.child.kill("SIGKILL");
  return running.ended;
}

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  runInside({ args, home: state.folder, env });

describe("a database in memory", () => {
  it.each([
    ["--data", ["serve", "--data", ":memory:", "--port", "0"], {}],
    ["SURVEYCTL_DATA", ["serve", "--port", "0"], { SURVEYCTL_DATA: ":memory:" }],
    ["--data", ["service", "project", "list", "--data", ":memory:"], {}],
    ["--data", ["service", "restore", "b.db", "--data", ":memory:"], {}],
    ["--to", ["service", "move", "--to", ":memory:", "--data", "a.db"], {}],
  ])("is refused with the place that names it, %s of %j", async (place, args, env) => {
    expect(await run(args, env)).toMatchObject({
      status: 2,
      stdout: "",
      stderr:
        `error: ${place}: :memory: keeps nothing after the command; name a file\n` +
        "hint: ./:memory: is a file of that name\n",
    });
    expect(await readdir(state.folder)).toEqual([]);
  });
});

describe("a long name", () => {
  it("is refused before anything is made", async () => {
    const name = file("n".repeat(203));
    const ended = await run(["serve", "--data", name, "--port", "0"]);
    expect([ended.status, ended.stderr]).toEqual([
      1,
      `error: ${name}: the file's name has 203 bytes; at most 160 leave room for the names next to it\n`,
    ]);
    expect(await readdir(state.folder)).toEqual([]);
  });

  it("is served where it fits, and again after each of two kills", async () => {
    for (let starts = 0; starts < 3; starts += 1) {
      const server = start(["serve", "--data", file("n".repeat(160)), "--port", "0"]);
      await server.saying(/^listening on/m);
      await kill(server);
    }
    expect(
      (await run(["service", "project", "list", "--data", file("n".repeat(160)), "--columns", "name"])).stdout,
    ).toBe("default\n");
  });
});

it("when an empty file is there that all may read, then it is its owner's alone from the start", async () => {
  await writeFile(file("survey.db"), "", { mode: 0o644 });
  const server = start(["serve", "--data", file("survey.db"), "--port", "0"]);
  await server.saying(/^listening on/m);
  const names = (await readdir(state.folder)).filter((name) => /^survey\.db(?!\.lock)/.test(name));
  expect(new Set(await Promise.all(names.map(async (name) => (await stat(file(name))).mode & 0o777)))).toEqual(
    new Set([0o600]),
  );
  server.child.kill("SIGTERM");
  expect((await server.ended).stderr).not.toContain("can be read by other users");
});

const copies = async (): Promise<string[]> =>
  (await readdir(state.folder)).filter((name) => /^new\.db\.[\w-]+\.surveyctl-tmp/.test(name));

it("when a restore is killed, then the next command on its file removes the copy that it left", async () => {
  expect((await run(["people", "add", "--email", "a@x.co", "--no-send", "--profile", "local"])).status).toBe(0);
  const local = file(".local/share/surveyctl/local.db");
  expect((await run(["service", "backup", file("b.db"), "--data", local])).status).toBe(0);
  // The first temporary file becomes the empty data file, so wait for the second. Retries if the restore ends first.
  while ((await copies()).length === 0) {
    await rm(file("new.db"), { force: true });
    const restoring = start(["service", "restore", file("b.db"), "--data", file("new.db")]);
    const isOver = restoring.ended.then(() => true);
    while (!existsSync(file("new.db")) || (await copies()).length === 0)
      if (await Promise.race([isOver, setTimeout(1, false)])) break;
    await kill(restoring);
  }
  await run(["service", "project", "list", "--data", file("new.db")]);
  expect(await copies()).toEqual([]);
  expect(existsSync(file("b.db"))).toBe(true);
});

it("when the restore was of another container, then opening its file neither waits for its lock nor removes its copy", async () => {
  const lock = lockName(file("new.db"));
  await writeFile(file("new.db.token.surveyctl-tmp"), "");
  await writeFile(lock, JSON.stringify({ pid: 7, started: null, space: "another", token: "gone" }));
  await utimes(lock, 0, 0);
  const before = performance.now();
  await removeAbandonedCopies(file("new.db"), systemRandom);
  expect(performance.now() - before).toBeLessThan(10_000);
  expect(await copies()).toHaveLength(1);
});
