/** The service in worlds of their own; see docs/testing.md. */
import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

const PROGRAM = path.join(import.meta.dirname, "simulate.js");

/** What `npm run simulate` prints, and its status. */
async function simulate(...args: readonly string[]): Promise<{ readonly status: number; readonly output: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? 1)));
  const output = await text(child.stdout);
  return { status: await ended, output };
}

test("when a seed is run twice, then everything happens in the same way", async () => {
  const [one, other] = [await simulate("--seed", "2"), await simulate("--seed", "2")];
  const events = one.output.split("\n").filter((line) => /^\d{4}-/.test(line));
  expect(events.length).toBeGreaterThan(50);
  expect(other.output.split("\n").filter((line) => /^\d{4}-/.test(line))).toEqual(events);
  expect(one.output).toMatch(/^trace [0-9a-f]{64}$/m);
  expect(/^trace .*$/m.exec(other.output)?.[0]).toBe(/^trace .*$/m.exec(one.output)?.[0]);
});
