import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isLong } from "../../../helpers/long.ts";
import { startProgram, type Running } from "../../../helpers/run-cli.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-pause-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

/** The long run of test/picture.test.ts checks that every step waits for Enter. */
function demo(...args: readonly string[]): Running {
  return startProgram({ args: ["demo", ...args], home, env: { TMPDIR: home, NO_COLOR: "1" }, tty: { columns: 80 } });
}

/** In the short run a story plays this without a terminal. */
it.runIf(isLong)("when it is told not to pause, then it goes on by itself to its end", async () => {
  const running = demo("--no-pause");
  const { stdout } = await running.ended;
  expect([stdout.includes("Press Enter"), stdout.includes("The demo server has stopped.")]).toEqual([false, true]);
});

it("when Ctrl-C is typed while it waits, then nothing of it is left", async () => {
  const running = demo();
  await running.saying(/Press Enter/);
  running.child.stdin.write("\u0003");
  const { stdout } = await running.ended;
  expect(stdout.trimEnd().split("\r\n").at(-1)).toBe("Interrupted.");
});
