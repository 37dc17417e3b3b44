import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isLocked, takeLock } from "../../../src/runtime/files/lock-file.ts";
import { size } from "../../helpers/long.ts";

let folder = "";
let file = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-lock-"));
  file = path.join(folder, "lock");
});
afterEach(() => rm(folder, { recursive: true }));

async function touch(secondsAgo: number): Promise<void> {
  const past = new Date(Date.now() - secondsAgo * 1000);
  await utimes(file, past, past);
}

const GONE = { pid: 2 ** 22 + 1, started: null, token: "gone" };

it("is held by one at a time", async () => {
  const lock = await takeLock(file, "a");
  await expect(takeLock(file, "b")).rejects.toMatchObject({ name: "LockedError", pid: process.pid, file });
  await lock.release();
  await (await takeLock(file, "c")).release();
  expect(await readdir(folder)).toEqual([]);
});

it.each([
  ["a process that is gone", GONE],
  ["an earlier process of the same id", { pid: process.pid, started: "1" }],
])("is taken over from %s", async (_, holder) => {
  await writeFile(file, JSON.stringify(holder));
  const lock = await takeLock(file, "a");
  await expect(takeLock(file, "b")).rejects.toThrow(`process ${process.pid}`);
  await lock.release();
  expect(await readdir(folder)).toEqual([]);
});

it("is not taken from what names nobody", async () => {
  await writeFile(file, "something else");
  await expect(takeLock(file, "a")).rejects.toMatchObject({ name: "LockedError", pid: null });
});

it("when its holder is in another container, then it counts as held until it has not been touched for a minute", async () => {
  await writeFile(file, JSON.stringify({ ...GONE, space: "another" }));
  await expect(takeLock(file, "a")).rejects.toMatchObject({ name: "LockedError", pid: GONE.pid });
  await touch(61);
  await (await takeLock(file, "b", async () => {})).release();
});

it("when a holder elsewhere has a clock that is behind, then it counts as held while it touches its file", async () => {
  await writeFile(file, JSON.stringify({ ...GONE, space: "another" }));
  await touch(3600);
  const pauses: number[] = [];
  const taking = takeLock(file, "a", async (ms) => {
    pauses.push(ms);
    await touch(3590);
  });
  await expect(taking).rejects.toMatchObject({ name: "LockedError", pid: GONE.pid });
  expect(pauses).toEqual([25_000]);
});

it("when it would have to be watched, then without a watch it counts as held", async () => {
  await writeFile(file, JSON.stringify({ ...GONE, space: "another" }));
  await touch(3600);
  await expect(takeLock(file, "a", null)).rejects.toMatchObject({ name: "LockedError", pid: GONE.pid });
});

it.each([
  ["its holder is gone", GONE, 0, false],
  ["a holder elsewhere touched it", { ...GONE, space: "another" }, 30, true],
  ["a holder elsewhere has not touched it for long", { ...GONE, space: "another" }, 3600, false],
])("when it is looked at and %s, then the look waits for nothing and leaves it", async (_, holder, secondsAgo, is) => {
  await writeFile(file, JSON.stringify(holder));
  await touch(secondsAgo);
  expect(await isLocked(file)).toBe(is);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual(holder);
  await rm(file);
  expect(await isLocked(file)).toBe(false);
});

it("when somebody else's lock is in its place, then it is not removed", async () => {
  const lock = await takeLock(file, "a");
  await writeFile(file, JSON.stringify(GONE));
  await lock.release();
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual(GONE);
});

const ROUNDS = size(3, 40);

it(`when many take over from one that died, then one gets it, in each of ${ROUNDS} rounds`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await writeFile(file, JSON.stringify({ ...GONE, token: `gone${round}` }));
    const tries = Array.from({ length: 8 }, (_, index) => takeLock(file, `r${round}t${index}`));
    const taken = (await Promise.allSettled(tries)).filter(({ status }) => status === "fulfilled");
    expect(taken).toHaveLength(1);
    for (const one of taken) if (one.status === "fulfilled") await one.value.release();
    expect(await readdir(folder)).toEqual([]);
  }
});

function look(): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

it("is never there without its holder's name, so that a kill leaves none that cannot be taken over", async () => {
  const seen = new Set<string>();
  const state = { isDone: false };
  // Each step leaves its state on disk until the event loop turns, so this loop sees it.
  const watched = (async (): Promise<void> => {
    while (!state.isDone) {
      const text = look();
      if (text !== null) seen.add(text);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  for (let turn = 0; turn < size(3, 500); turn += 1) await (await takeLock(file, `t${turn}`)).release();
  state.isDone = true;
  await watched;
  expect(seen.size).toBeGreaterThan(0);
  for (const text of seen) expect(JSON.parse(text)).toMatchObject({ pid: process.pid });
});
