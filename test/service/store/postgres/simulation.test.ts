/** Runs the simulator on PostgreSQL; see docs/testing.md. `test/simulation` does the same with data files. */
import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { isLong, size } from "../../../helpers/long.ts";
import { hasPostgres, newDatabase } from "../../../helpers/postgres.ts";

const PROGRAM = path.join(import.meta.dirname, "../../../simulation/simulate.js");
const PATIENCE_MS = size(600_000, 6 * 3_600_000);

async function simulate(...args: readonly string[]): Promise<{ status: number; output: string }> {
  const url = await newDatabase();
  const child = spawn(process.execPath, [PROGRAM, ...args, "--postgres", url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number>((resolve) => {
    child.on("close", (code) => resolve(code ?? 1));
  });
  const output = await text(child.stdout);
  return { status: await ended, output };
}

function tracesIn(output: string): readonly string[] {
  return output.match(/^seed \d+: trace [0-9a-f]{64}$/gm) ?? [];
}

describe.skipIf(!hasPostgres)("on a server whose connections break off", () => {
  test(
    "when the service is run for 30 days from many seeds, then it does nothing that it must not do, and the same again",
    async () => {
      const seeds = size(10, 2000);
      const { status, output } = await simulate("--seeds", String(seeds), "--hashes");
      expect([status, output]).toEqual([0, expect.stringContaining(`${seeds} of ${seeds} seeds, 30 days each`)]);
      expect(output).toMatch(/ cut connections, .* outages of the database, /);
      const again = tracesIn((await simulate("--seeds", "2", "--hashes")).output);
      expect(again).toHaveLength(2);
      expect(tracesIn(output)).toEqual(expect.arrayContaining([...again]));
    },
    PATIENCE_MS,
  );

  test(
    "when a fault is planted in the store, then it is found",
    async () => {
      const { status, output } = await simulate("--planted", "all", ...(isLong ? ["--seeds", "2000"] : []));
      expect([status, output.match(/^missed: .*/gm), output.match(/^seed \d+: /gm)?.length]).toEqual([0, null, 3]);
    },
    PATIENCE_MS,
  );
});
