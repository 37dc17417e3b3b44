import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startProgram, type Running } from "../../../helpers/run-cli.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-pause-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

/** Told not to pause it is played in test/picture.test.ts. */
function demo(): Running {
  return startProgram({ args: ["demo"], home, env: { TMPDIR: home, NO_COLOR: "1" }, tty: { columns: 80 } });
}

it("when the demo runs on a terminal, then each step but the first waits for Enter", async () => {
  const running = demo();
  for (let step = 2; step <= 7; step += 1) {
    const [shown] = await running.saying(new RegExp(`^.*(?:Press Enter to continue .*){${step - 1}}`, "s"));
    expect([shown.includes(`\n${step - 1}. `), shown.includes(`\n${step}. `)]).toEqual([true, false]);
    running.child.stdin.write("\r");
  }
  const { status, stdout } = await running.ended;
  expect([status, stdout.includes("The demo server has stopped.")]).toEqual([0, true]);
});

it("when Ctrl-C is typed while it waits, then nothing of it is left", async () => {
  const running = demo();
  await running.saying(/Press Enter/);
  running.child.stdin.write("\u0003");
  const { stdout } = await running.ended;
  expect(stdout.trimEnd().split("\r\n").at(-1)).toBe("Interrupted.");
});
