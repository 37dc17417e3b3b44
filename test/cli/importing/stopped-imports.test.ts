import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { mkdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { peopleAt, receivers } from "../../helpers/imported.ts";
import { runInside, startInside } from "../../helpers/in-process.ts";
import { isLong } from "../../helpers/long.ts";
import { listening } from "../../helpers/misbehaving-server.ts";
import { argumentsOf } from "../../helpers/resident.ts";
import {
  bareEnvironment,
  follow,
  shellProgram,
  startProgram,
  type Ended,
  type Running,
} from "../../helpers/run-cli.ts";
import { startServe, startServeProcess, type Served } from "../../helpers/serve.ts";

const ROWS = 40;
const EVERYBODY = Array.from({ length: ROWS }, (_, index) => `stop${String(index).padStart(2, "0")}@example.com`);

let service: Served;
let env: Record<string, string> = {};
let file = "";
beforeEach(() => use(startServe()));

async function use(started: Promise<Served>): Promise<void> {
  service = await started;
  env = { ...service.env, SURVEYCTL_SETTLE: "1s" };
  await service.run(["service", "throttle", "off", "--data", service.dataFile]);
  file = path.join(service.folder, "people.csv");
  await writeFile(file, `email\n${EVERYBODY.map((email) => `${email}\n`).join("")}`);
}
afterEach(async () => {
  await service.stop();
});

function startSlowly(...flags: string[]): Running {
  const args = ["people", "import", file, "--send", "--rate", "30", ...flags];
  const running = startProgram({ args, home: service.folder, env });
  running.child.stdin.end();
  return running;
}

async function journalHolds(text: string, from = 0): Promise<void> {
  while (!(await readJournalText()).includes(text, from)) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function readJournalText(): Promise<string> {
  return readFile(`${file}.people-import.results.csv.journal`, "utf8").catch(() => "");
}

function paste(line: string): Promise<Ended> {
  const shell = `surveyctl() { ${shellProgram()} "$@"; }; ${line}`;
  const child = spawn("sh", ["-c", shell], { cwd: service.folder, env: bareEnvironment(service.folder, env) });
  child.stdin.end();
  return follow(child).ended;
}

function resume(line: string): Promise<Ended> {
  return runInside({ args: argumentsOf(line) ?? [line], home: service.folder, env, cwd: service.folder });
}

function resumeLineOf({ stderr }: Ended): string {
  return /^To resume: (.*)$/m.exec(stderr)?.[1] ?? `echo no line that resumes: ${stderr}; false`;
}

async function expectEverybodyOnce(): Promise<void> {
  expect(await peopleAt(service)).toEqual(EVERYBODY);
  expect(await receivers(service, ROWS)).toEqual(EVERYBODY);
  const results = (await readFile(`${file}.people-import.results.csv`, "utf8")).trim().split("\n").slice(1);
  expect(results.map((line) => line.split(",").slice(0, 3).join(","))).toEqual(
    EVERYBODY.map((email, index) => `${index + 2},${email},scheduled`),
  );
}

for (const [signal, status] of [
  ["SIGINT", 130] as const,
  // SIGTERM takes the same path; test/cli/process.test.ts checks its status for all commands.
  ...(isLong ? [["SIGTERM", 143] as const] : []),
]) {
  test(`when ${signal} stops it, then it ends with ${status}, and the line that it prints does the rest`, async () => {
    const running = startSlowly();
    await journalHolds('"done"');
    running.child.kill(signal);
    const ended = await running.ended;
    expect(ended.status).toBe(status);
    expect(ended.stdout).toBe("");
    // As left by a run that was killed while writing the results.
    const half = `${file}.people-import.results.csv.0a1B_c2D.surveyctl-tmp`;
    await writeFile(half, "line,identifier");
    expect((await paste(resumeLineOf(ended))).status).toBe(0);
    await expectEverybodyOnce();
    expect(existsSync(half)).toBe(false);
  });
}

test("when a second run begins on the same results, then it is refused and the first continues", async () => {
  const running = startSlowly("--quiet");
  await journalHolds('"intent"');
  // The first run must not finish before the second one starts.
  running.child.kill("SIGSTOP");
  const second = await service.run(["people", "import", file, "--send", "--resume"]);
  expect(second).toEqual({
    status: 2,
    signal: null,
    stdout: "",
    stderr:
      `error: another run (process ${running.child.pid}) is importing with these results\n` +
      `hint: wait for it to end; its lock is ${file}.people-import.results.csv.lock\n`,
  });
  running.child.kill("SIGCONT");
  expect((await running.ended).status).toBe(0);
  await expectEverybodyOnce();
});

test("when the disk is full, then the run stops with an error, and resumes when there is room again", async () => {
  // 4 KiB hold the journal's first rows.
  const args = `people import ${file} --send --concurrency 1`;
  const shell = `ulimit -f 4; ${shellProgram()} ${args}`;
  const child = spawn("bash", ["-c", shell], {
    cwd: service.folder,
    env: bareEnvironment(service.folder, env),
  });
  child.stdin.end();
  const ended = await follow(child).ended;
  const [, recorded, unrecorded, unsent] =
    /^Stopped after [\d.]+ s: (\d+) scheduled, (\d+) possibly sent, (\d+) not sent$/m.exec(ended.stderr) ?? [];
  const mailed = (await peopleAt(service)).length;
  expect([Number(recorded) + Number(unrecorded), Number(unsent)]).toEqual([mailed, ROWS - mailed]);
  expect([ended.status, ended.stderr.split("\n").slice(1)]).toEqual([
    1,
    [
      expect.stringMatching(/^\d+ surveys become files in outbox\/: no mail server or gateway is set$/),
      `results: ${file}.people-import.results.csv`,
      `To resume: surveyctl ${args} --resume`,
      `error: ${file}.people-import.results.csv.journal: the file may not become larger`,
      "",
    ],
  ]);
  expect((await resume(resumeLineOf(ended))).status).toBe(0);
  await expectEverybodyOnce();
});

function ending({ status, stderr }: Ended): unknown[] {
  return [status, ...stderr.trimEnd().split("\n").slice(1)];
}

test("when the results cannot be written, then the summary does not name them, and the error does", async () => {
  const results = path.join(service.folder, "results.csv");
  const args = ["people", "import", file, "--send", "--rate", "30", "--results", results];
  const running = startSlowly("--results", results);
  await vi.waitFor(() => readFile(`${results}.journal`), { timeout: 30_000, interval: 5 });
  await mkdir(results);
  const ended = await running.ended;
  await rmdir(results);
  expect(ending(ended)).toEqual([
    1,
    "40 surveys become files in outbox/: no mail server or gateway is set",
    "results: not written",
    `To resume: surveyctl ${args.join(" ")} --resume`,
    `error: ${results} is a directory`,
  ]);
  const { stdout } = await service.run([...args, "--resume", "--json"], { env });
  expect(JSON.parse(stdout)).toMatchObject({ scheduled: ROWS, results });
});

test("when the folder of the results is removed on the way, then the exit does not say that nothing was sent", async () => {
  const folder = path.join(service.folder, "results");
  await mkdir(folder);
  const results = path.join(folder, "results.csv");
  const running = startSlowly("--results", results);
  const begun = async (): Promise<void> => expect(await readFile(`${results}.journal`, "utf8")).toContain("intent");
  await vi.waitFor(begun, { timeout: 30_000, interval: 5 });
  await rm(folder, { recursive: true });
  const ended = await running.ended;
  expect([ended.status, ended.stderr]).toEqual([
    1,
    expect.stringMatching(/^error: .*no such file or directory/m) as string,
  ]);
});

test("when the results cannot be replaced, then the summary says that they are of a previous run", async () => {
  expect((await service.run(["people", "import", file, "--send"], { env })).status).toBe(0);
  const args = `people import ${file} --send --resume`;
  const child = spawn("bash", ["-c", `ulimit -f 1; ${shellProgram()} ${args}`], {
    cwd: service.folder,
    env: bareEnvironment(service.folder, env),
  });
  child.stdin.end();
  const results = `${file}.people-import.results.csv`;
  expect(ending(await follow(child).ended)).toEqual([
    1,
    `results: not written; ${results} is from a previous run`,
    `To resume: surveyctl ${args}`,
    `error: ${results}.journal: the file may not become larger`,
  ]);
});

test("when the service dies on the way, then the exit is 1, and the line does the rest when it is back", async () => {
  await service.stop();
  const server = await startServeProcess();
  const run: Served["run"] = (args, more = {}) =>
    runInside({ args, home: server.folder, ...more, env: { ...server.env, ...more.env } });
  await use(Promise.resolve({ ...server, run }));
  const running = startSlowly("--retries", "1");
  await journalHolds('"done"');
  process.kill(server.pid, "SIGKILL");
  const ended = await running.ended;
  expect([ended.status, ended.stdout]).toEqual([1, ""]);
  expect(ended.stderr).toMatch(/^error: .* refused the connection$/m);
  const again = startInside({
    args: ["serve", "--data", service.dataFile, "--port", new URL(service.baseUrl).port],
    home: service.folder,
    env: service.env,
  });
  try {
    await again.saying(/^listening on /m);
    expect((await resume(resumeLineOf(ended))).status).toBe(0);
    await expectEverybodyOnce();
  } finally {
    again.child.kill("SIGTERM");
    await again.ended;
  }
});

test("when it is resumed, then the summary counts this run and the previous ones apart", async () => {
  const running = startSlowly();
  await journalHolds('"done"');
  running.child.kill("SIGINT");
  const first = await running.ended;
  const [, sent = "", left = ""] =
    /^Interrupted after [\d.]+ s: (\d+) scheduled, (\d+) not sent$/m.exec(first.stderr) ?? [];
  expect([Number(sent) + Number(left), first.stderr]).toEqual([ROWS, first.stderr]);
  const second = await service.run(["people", "import", file, "--send", "--resume", "--json"]);
  expect(JSON.parse(second.stdout)).toMatchObject({
    scheduled: ROWS,
    pending: 0,
    possibly_sent: 0,
    earlier: { scheduled: Number(sent), saved: 0, failed: 0, unknown: 0, skipped: 0 },
  });
  const again = await service.run(["people", "import", file, "--send", "--resume"]);
  expect(again.stderr).toMatch(/^0 scheduled now, 40 earlier in [\d.]+ s \(0\/s\)$/m);
});

test("when a run is killed and the next one interrupted, then rows of the killed one are not called unsent", async () => {
  const running = startSlowly();
  await journalHolds('"done"');
  running.child.kill("SIGKILL");
  await running.ended;
  const { length } = await readJournalText();
  const resumed = startSlowly("--resume");
  await journalHolds('"done"', length);
  resumed.child.kill("SIGINT");
  const { stderr } = await resumed.ended;
  const [, now, earlier, unknown] =
    /^Interrupted after [\d.]+ s: (\d+) scheduled now, (\d+) earlier, (\d+) possibly sent$/m.exec(stderr) ?? [];
  expect([Number(now) + Number(earlier) + Number(unknown), stderr]).toEqual([ROWS, stderr]);
});

async function startSilentService(): Promise<{ url: string; asked: AbortSignal; stop: () => void }> {
  const asked = new AbortController();
  const server = createServer((request, response) => {
    if (request.method === "POST") return asked.abort();
    response.writeHead(200, { "content-type": "application/json" }).end("[]");
  });
  const url = `http://127.0.0.1:${await listening(server)}`;
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url, asked: asked.signal, stop };
}

test("when a second signal ends it at once, then it still prints the line that resumes", async () => {
  const silent = await startSilentService();
  const args = ["people", "import", file, "--send", "--base-url", silent.url];
  const running = startProgram({ args, home: service.folder, env });
  running.child.stdin.end();
  if (!silent.asked.aborted) await once(silent.asked, "abort");
  const said = new Promise<void>((resolve) => {
    running.child.stderr.on("data", (text: string) => text.startsWith("Waiting for the requests") && resolve());
  });
  running.child.kill("SIGINT");
  await said;
  // Any sooner would count as the same Ctrl-C.
  await sleep(150);
  running.child.kill("SIGINT");
  const ended = await running.ended;
  silent.stop();
  expect([ended.signal, resumeLineOf(ended)]).toEqual(["SIGINT", `surveyctl ${args.join(" ")} --resume`]);
});
