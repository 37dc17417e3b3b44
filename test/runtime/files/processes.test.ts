import { spawnSync } from "node:child_process";
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
