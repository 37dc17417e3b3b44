import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
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
