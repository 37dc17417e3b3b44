import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, it } from "vitest";
import { takeLock } from "../../src/runtime/lock-file.ts";
import { currentProcess } from "../../src/runtime/processes.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-lock-"));
});
afterEach(() => rm(folder, { recursive: true }));

it("is held by one at a time", async () => {
  const file = path.join(folder, "lock");
  const lock = await takeLock(file, "a");
  await expect(takeLock(file, "b")).rejects.toMatchObject({ name: "LockedError", pid: currentProcess().pid, file });
  await lock.release();
  await (await takeLock(file, "c")).release();
  expect(await readdir(folder)).toEqual([]);
});

it.each([
  ["a process that is gone", { pid: 2 ** 22 + 1, started: null }],
  ["an earlier process of the same id", { pid: currentProcess().pid, started: "1" }],
])("is taken over from %s", async (_, holder) => {
  const file = path.join(folder, "lock");
  await writeFile(file, JSON.stringify(holder));
  const lock = await takeLock(file, "a");
  await expect(takeLock(file, "b")).rejects.toThrow(`process ${currentProcess().pid}`);
  await lock.release();
  expect(await readdir(folder)).toEqual([]);
});

it("is not taken from what names nobody", async () => {
  const file = path.join(folder, "lock");
  await writeFile(file, "something else");
  await expect(takeLock(file, "a")).rejects.toMatchObject({ name: "LockedError", pid: null });
});

/** Looks at a file as fast as it can, in a thread of its own, and tells every text that was in it. */
const WATCH = `
const { parentPort, workerData } = require("node:worker_threads");
const { readFileSync } = require("node:fs");
const seen = new Set();
for (;;) {
  try {
    const text = readFileSync(workerData, "utf8");
    if (!seen.has(text)) parentPort.postMessage(text);
    seen.add(text);
  } catch {}
}`;

it("is never there without its holder's name, so that a kill leaves none that cannot be taken over", async () => {
  const file = path.join(folder, "lock");
  const seen: unknown[] = [];
  const watcher = new Worker(WATCH, { eval: true, workerData: file }).on("message", (text) => seen.push(text));
  await once(watcher, "online");
  for (let turn = 0; turn < 500; turn += 1) await (await takeLock(file, `t${turn}`)).release();
  await watcher.terminate();
  expect(seen).toEqual([JSON.stringify(currentProcess())]);
});
