import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createWaitLines, describeWait } from "../../../src/cli/kit/wait-lines.ts";
import type { Wait } from "../../../src/client/trace/trace.ts";
import { fakeDeps } from "../../helpers/fake-deps.ts";
import { runInProcess, type Finished } from "../../helpers/in-process.ts";
import { answer, json, reset, startMisbehavingServer, type Behaviour } from "../../helpers/misbehaving-server.ts";
import { runCli } from "../../helpers/run-cli.ts";

const RETRY: Extract<Wait, { kind: "retry" }> = {
  kind: "retry",
  waitMs: 200,
  reason: "h refused the connection",
  cause: "h refused the connection",
  isNews: true,
  repeat: 1,
  retries: 5,
};

it.each([
  [0, "0.1 s"],
  [12.3, "0.1 s"],
  [200, "0.2 s"],
  [9949, "10 s"],
  [90_000, "90 s"],
])("when it waits for %d milliseconds, then it says %s", (waitMs, time) => {
  expect(describeWait({ ...RETRY, waitMs })).toBe(`h refused the connection; retrying in ${time} (1/5)`);
});

it("when a write is checked, then it says for how long", () => {
  expect(describeWait({ ...RETRY, kind: "check", waitMs: 30_000, reason: "no answer from h within 30 s" })).toBe(
    "no answer from h within 30 s; checking for up to 30 s whether the request arrived",
  );
});

it("when standard error is no terminal, then each cause is told once and every retry is counted", () => {
  const { deps, err } = fakeDeps();
  const lines = createWaitLines(deps);
  const other = { ...RETRY, reason: "the service answered 503 and asks to wait 1 s", cause: "service_failed 503" };
  for (const wait of [RETRY, { ...RETRY, repeat: 2 }, other, { ...other, reason: "503 and 2 s" }, RETRY])
    lines.onWait(wait);
  lines.onWait({ ...RETRY, isNews: false, cause: "rate_limited 429" });
  expect(err()).toBe(
    "h refused the connection; retrying in 0.2 s (1/5)\nthe service answered 503 and asks to wait 1 s; retrying in 0.2 s (1/5)\n",
  );
  expect(lines.retryCount()).toBe(6);
});

it("when it is a terminal, then one live line is shown while a wait lasts, and taken away", async () => {
  const { deps, err } = fakeDeps({ width: 80 });
  const lines = createWaitLines(deps);
  const over = lines.onWait(RETRY);
  const second = lines.onWait({ ...RETRY, repeat: 2 });
  await expect.poll(err, { timeout: 30_000 }).toContain("(2/5)");
  over?.();
  second?.();
  await lines.end();
  expect(err()).not.toContain("\n");
  expect(err().replaceAll("\u001B[0K", "\u001B[2K").split("\u001B[2K").at(-1)).not.toContain("retrying");
});

async function listThrough(script: readonly Behaviour[], flags: readonly string[]): Promise<Finished> {
  const home = await mkdtemp(path.join(tmpdir(), "surveyctl-wait-"));
  onTestFinished(async () => await rm(home, { recursive: true, force: true }));
  const server = await startMisbehavingServer({ script });
  onTestFinished(async () => await server.stop());
  const args = ["people", "list", "--base-url", server.baseUrl, ...flags];
  return await runInProcess({ args, env: { HOME: home, SURVEYCTL_API_KEY: "key-of-the-wait" } });
}

const busy = answer(503, "", { "retry-after": "1" });

it.each([
  [[], "the service answered 503 and asks to wait 1 s; retrying in 1 s (1/5)\n"],
  [["--quiet"], ""],
])("when the service is busy twice and the flags are %j, then one line or none says so", async (flags, expected) => {
  const { status, stderr } = await listThrough([busy, busy, json([])], flags);
  expect({ status, stderr }).toEqual({ status: 0, stderr: expected });
});

it("when there are two causes, then there are two lines", async () => {
  const { status, stderr } = await listThrough([reset, reset, busy, reset, json([])], []);
  expect({ status, lines: stderr.trim().split("\n") }).toEqual({
    status: 0,
    lines: [
      expect.stringMatching(/^the connection to .* broke .*; retrying in [\d.]+ s \(1\/5\)$/) as string,
      "the service answered 503 and asks to wait 1 s; retrying in 1 s (3/5)",
    ],
  });
});

it("when nothing listens and it is a terminal, then one line is used and stays behind in no form", async () => {
  const args = ["people", "list", "--base-url", "http://127.0.0.1:9", "--retries", "2"];
  const { status, stdout } = await runCli({
    args,
    env: { SURVEYCTL_API_KEY: "key-of-the-wait" },
    tty: { columns: 100 },
  });
  expect(status).toBe(1);
  expect(stdout).toContain("127.0.0.1:9 refused the connection; retrying in");
  const left = stdout.split("\n").map((line) => line.split("\u001B[1G").at(-1));
  expect(left.filter((line) => line?.includes("retrying"))).toEqual([]);
});
