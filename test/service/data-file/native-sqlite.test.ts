import { spawn } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readdirSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runInside } from "../../helpers/in-process.ts";
import { bareEnvironment, follow, shellProgram, type Ended, type Running } from "../../helpers/run-cli.ts";

const KEY = "key-of-the-native-tests";
const authorization = `Basic ${btoa(`${KEY}:`)}`;
const state: { folder: string; running: Running[] } = { folder: "", running: [] };
const file = (name: string): string => path.join(state.folder, name);

beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-native-"));
});
afterEach(async () => {
  for (const { child } of state.running) killGroup(child.pid);
  await Promise.all(state.running.splice(0).map(({ ended }) => ended));
  await rm(state.folder, { recursive: true, force: true });
});

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has already exited.
  }
}

function startIn(args: string, before = "true"): Running {
  const line = `${before} && exec ${shellProgram()} ${args}`;
  const env = bareEnvironment(state.folder, { SURVEYCTL_API_KEY: KEY });
  const running = follow(spawn("unshare", ["--mount", "sh", "-c", line], { cwd: state.folder, env, detached: true }));
  running.child.stdin.end();
  state.running.push(running);
  return running;
}

const run = (line: string): Promise<Ended> =>
  runInside({ args: line.split(" ").map((word) => word.replace(/^@/, `${state.folder}/`)), home: state.folder });

async function makeBackup(): Promise<void> {
  expect(await run("people add --email a@x.co --no-send --profile local")).toMatchObject({ status: 0 });
  expect(await run("service backup @b.db --data @.local/share/surveyctl/local.db")).toMatchObject({ status: 0 });
}

test("when a restore is killed, then the next one of the same backup succeeds", async () => {
  await makeBackup();
  const restoring = startIn("service restore b.db --data new.db");
  const looking = { isOver: false };
  void restoring.ended.then(() => (looking.isOver = true));
  while (!looking.isOver && !existsSync(file("new.db"))) await new Promise((resolve) => setImmediate(resolve));
  killGroup(restoring.child.pid);
  await restoring.ended;
  expect(await run("service restore @b.db --data @other.db")).toMatchObject({ status: 0 });
});

test("when a backup is on a read-only mount, then it is restored", async () => {
  await makeBackup();
  mkdirSync(file("mount"));
  await rename(file("b.db"), file("mount/b.db"));
  const mounting = "mount --bind mount mount && mount -o remount,bind,ro mount";
  expect(await startIn("service restore mount/b.db --data new.db", mounting).ended).toMatchObject({ status: 0 });
  expect(readdirSync(file("mount"))).toEqual(["b.db"]);
});

async function add(url: string, email: string): Promise<boolean> {
  const headers = { authorization, "content-type": "application/json" };
  const body = JSON.stringify({ email, send: false });
  return fetch(`${url}/v1/people.json`, { method: "POST", headers, body }).then(
    ({ status }) => status === 201,
    () => false,
  );
}

test.each([
  ["hard link", "true"],
  ["bind mount of the file", "mount --bind survey.db link.db"],
])("when a second service opens the file by a %s, then no acknowledged row is lost", async (_, mounting) => {
  const first = startIn("serve --data survey.db --port 0 --quiet");
  const urls = [(await first.saying(/^listening on (http\S+)$/m))[1] ?? ""];
  const acknowledged: string[] = [];
  const addRows = async (): Promise<void> => {
    for (let n = 0; n < 20; n += 1)
      for (const url of urls) {
        const email = `p${acknowledged.length}@x.co`;
        if (await add(url, email)) acknowledged.push(email);
      }
  };
  await addRows();
  if (mounting === "true") linkSync(file("survey.db"), file("link.db"));
  else writeFileSync(file("link.db"), "");
  const second = startIn("serve --data link.db --port 0 --quiet", mounting);
  // The second server can refuse to start.
  const listening = await second.saying(/^listening on (http\S+)$/m).catch(() => null);
  if (listening !== null) urls.push(listening[1] ?? "");
  await addRows();
  for (const { child } of [first, second]) child.kill("SIGTERM");
  await Promise.all([first.ended, second.ended]);
  if (mounting === "true") unlinkSync(file("link.db"));
  const third = startIn("serve --data survey.db --port 0 --quiet");
  const url = (await third.saying(/^listening on (http\S+)$/m))[1] ?? "";
  const answer = await fetch(`${url}/v1/people.json?per_page=100`, { headers: { authorization } });
  const emails = ((await answer.json()) as { email: string }[]).map(({ email }) => email);
  expect(emails.toSorted()).toEqual(expect.arrayContaining(acknowledged));
});

test("when the umask allows everything, then nothing beside the file is open to others", async () => {
  const server = startIn("serve --data survey.db --port 0 --quiet", "umask 000");
  await server.saying(/^listening on/m);
  const names = readdirSync(state.folder).filter((name) => name.startsWith("survey.db"));
  expect(names.filter((name) => (statSync(file(name)).mode & 0o077) !== 0)).toEqual([]);
});
