/** The service in worlds of its own, for months; see docs/testing.md. */
import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { isLong, size } from "../helpers/long.ts";

const PROGRAM = path.join(import.meta.dirname, "simulate.js");
/** On a busy machine; what it takes on two idle processors is a fraction of it. */
const PATIENCE_MS = size(600_000, 6 * 3_600_000);

/** What `npm run simulate` prints, and its status. */
async function simulate(...args: readonly string[]): Promise<{ readonly status: number; readonly output: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number>((resolve) => {
    child.on("close", (code) => resolve(code ?? 1));
  });
  const output = await text(child.stdout);
  return { status: await ended, output };
}

/** The trace of a run of one seed: its events, and its hash. */
function traceIn(output: string): readonly string[] {
  return output.split("\n").filter((line) => /^(?:\d{4}-|trace )/.test(line));
}

test(
  "when a seed is run twice, then everything happens in the same way",
  async () => {
    const [one, other] = await Promise.all([simulate("--seed", "2"), simulate("--seed", "2")]);
    expect(traceIn(one.output).length).toBeGreaterThan(50);
    expect(traceIn(one.output).at(-1)).toMatch(/^trace [0-9a-f]{64}$/);
    expect(traceIn(other.output)).toEqual(traceIn(one.output));
  },
  PATIENCE_MS,
);

test(
  "when the service is run for 30 days from many seeds, then it does nothing that it must not do",
  async () => {
    const seeds = size(200, 10_000);
    const { status, output } = await simulate("--seeds", String(seeds));
    expect([status, output]).toEqual([0, expect.stringContaining(`${seeds} of ${seeds} seeds, 30 days each`)]);
  },
  PATIENCE_MS,
);

test(
  "when a fault is planted, then it is found",
  async () => {
    const { status, output } = await simulate("--planted", "all", ...(isLong ? ["--seeds", "2000"] : []));
    expect([status, output]).toEqual([0, expect.not.stringContaining("missed")]);
    expect(output.match(/^seed \d+: /gm)?.length).toBeGreaterThanOrEqual(25);
  },
  PATIENCE_MS,
);
