import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isLong } from "../../../helpers/long.ts";
import { startProgram } from "../../../helpers/run-cli.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-interrupted-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

/** The short run tests Ctrl-C only in pause.test.ts. */
const SIGNALS = [
  ["SIGTERM", 143, "Terminated."],
  ["SIGINT", 130, "Interrupted."],
] as const;

it.each(isLong ? SIGNALS : SIGNALS.slice(0, 1))(
  "when %s ends a demo half-way, then nothing of it is left",
  async (signal, status, words) => {
    const demo = startProgram({ args: ["demo"], home, env: { TMPDIR: home } });
    await demo.saying(/people import/);
    demo.child.kill(signal);
    const ended = await demo.ended;
    expect({ status: ended.status, stderr: ended.stderr, left: await readdir(home) }).toEqual({
      status,
      stderr: `${words}\n`,
      left: [],
    });
  },
);
