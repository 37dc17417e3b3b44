import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { isRunning, processStart } from "../../../src/runtime/files/processes.ts";

const hasPs = spawnSync("ps", ["-o", "lstart=", "-p", String(process.pid)]).status === 0;

it.skipIf(!hasPs)("when the system shows no processes as files, then ps tells when one started", async () => {
  const started = await processStart(process.pid, "/no/such/folder");
  const ageMs = Date.now() - Date.parse(`${started} UTC`);
  expect(ageMs).toBeGreaterThanOrEqual(-2_000);
  expect(ageMs).toBeLessThan(3_600_000);
  expect(await processStart(2 ** 22 + 1, "/no/such/folder")).toBe(null);
});

it("when a process id is used again, then the earlier process is not running", async () => {
  expect(await isRunning({ pid: process.pid, started: await processStart(process.pid) })).toBe(true);
  expect(await isRunning({ pid: process.pid, started: "1" })).toBe(false);
  expect(await isRunning({ pid: 2 ** 22 + 1, started: null })).toBe(false);
});

it("when a process has ended and its parent never asks after it, then it is not running", async () => {
  // It ends once its parent is `sleep`, which never reaps it.
  const script = "while ! grep -q sleep /proc/$$/comm; do sleep 0.02; done & echo $!; exec sleep 60";
  const parent = spawn("sh", ["-c", script]);
  const [pid] = (await once(parent.stdout, "data")).map(Number) as [number];
  const mark = { pid, started: null };
  try {
    while (!/ Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8")))
      await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await isRunning(mark)).toBe(false);
  } finally {
    parent.kill();
  }
});
