import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { administer } from "../../../src/service/data-file/administer.ts";
import { backUp, copyThrough } from "../../../src/service/data-file/backup.ts";
import { openDataFile } from "../../../src/service/data-file/open-data-file.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { inspectCopy } from "../../../src/service/store/sqlite/inspect-copy.ts";
import { size } from "../../helpers/long.ts";
import { startProgram, type Running } from "../../helpers/run-cli.ts";

const KEY = "key-of-the-backup-kill-tests";
const KILLS = size(1, 20);
const state: { folder: string; running: Running[] } = { folder: "", running: [] };
const file = (name: string): string => path.join(state.folder, name);

beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-backup-kill-"));
});
afterEach(async () => {
  for (const { child } of state.running) child.kill("SIGKILL");
  await Promise.all(state.running.splice(0).map(({ ended }) => ended));
  await rm(state.folder, { recursive: true, force: true });
});

function start(args: readonly string[]): Running {
  const running = startProgram({ args, home: state.folder, env: { SURVEYCTL_API_KEY: KEY } });
  state.running.push(running);
  return running;
}

async function serve(): Promise<Running & { readonly url: string }> {
  const running = start(["serve", "--data", file("survey.db"), "--port", "0", "--quiet"]);
  return { ...running, url: (await running.saying(/^listening on (http\S+)$/m))[1] ?? "" };
}

const BACKUP = (): string[] => ["service", "backup", file("b.db"), "--keep", "2", "--data", file("survey.db")];
const temporary = (): string[] => readdirSync(state.folder).filter((name) => name.includes("surveyctl-tmp"));

async function write(url: string, next: () => string, acknowledged: string[]): Promise<void> {
  const headers = { authorization: `Basic ${btoa(`${KEY}:`)}`, "content-type": "application/json" };
  try {
    for (;;) {
      const email = next();
      const body = JSON.stringify({ email, send: false });
      const { status } = await fetch(`${url}/v1/people.json`, { method: "POST", headers, body });
      if (status === 201) acknowledged.push(email);
    }
  } catch {
    // The server was killed.
  }
}

async function fill(): Promise<void> {
  const store = await openDataFile({ dataFile: file("survey.db"), clock: systemClock, random: systemRandom });
  await store.write(
    async ({ tables }) => {
      const value = "x".repeat(1024 * 1024);
      for (let n = 0; n < size(10, 24); n += 1) await tables.insert("store_secrets", [{ name: `filler ${n}`, value }]);
    },
    { project: "all" },
  );
  await store.close();
}

test(
  "when a backup under load is killed, then it is whole or not there, and no data is lost",
  async () => {
    await fill();
    const acknowledged: string[] = [];
    let number = 0;
    const left: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const server = await serve();
      const writers = Array.from({ length: 4 }, () => write(server.url, () => `p${number++}@x.co`, acknowledged));
      const command = start(BACKUP());
      const before = temporary();
      await expect
        .poll(() => temporary().some((name) => !before.includes(name)), { interval: 1, timeout: 20_000 })
        .toBe(true);
      await systemClock.sleep((kill * 13) % 60);
      const [first, second] = kill % 2 === 0 ? [command, server] : [server, command];
      first.child.kill("SIGKILL");
      left.push(temporary().length);
      if (first === server) await command.ended;
      second.child.kill("SIGKILL");
      await Promise.all([...writers, server.ended, command.ended]);
      expect(existsSync(file("b.db")) ? (await inspectCopy(file("b.db"))).findings : []).toEqual([]);
    }
    expect(Math.max(...left)).toBeGreaterThan(0);
    const given = { file: file("b.db"), keep: 2, random: systemRandom, signal: new AbortController().signal };
    const world = { dataFile: file("survey.db"), clock: systemClock, random: systemRandom };
    const { info } = await administer(world, (_, store) =>
      backUp({ ...world, ...given, copy: copyThrough(store, given.file) }),
    );
    expect(temporary()).toEqual([]);
    const store = await openDataFile({ dataFile: file("survey.db"), clock: systemClock, random: systemRandom });
    const which = { since: null, until: null, after: null, limit: 1_000_000 };
    const people = await store.read((tx) => tx.people.list(1, which));
    const stored = new Set(people.map((row) => (JSON.parse(row) as { email: string }).email));
    expect(acknowledged.filter((email) => !stored.has(email))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(KILLS);
    expect(info.people).toBe(people.length);
    await store.close();
  },
  size(60_000, 600_000),
);
