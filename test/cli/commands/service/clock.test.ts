import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { openDataFile } from "../../../../src/service/data-file/open-data-file.ts";
import { ensureProject } from "../../../../src/service/first-project.ts";
import { runInside } from "../../../helpers/in-process.ts";
import { type Ended, runCli, YEARS_AHEAD } from "../../../helpers/run-cli.ts";

const state = { folder: "" };
const data = (): string[] => ["--data", path.join(state.folder, "survey.db")];
const run = (...args: string[]): Promise<Ended> =>
  runInside({ args: ["service", ...args, ...data()], home: state.folder });

beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-clock-"));
  const [, dataFile = ""] = data();
  const store = await openDataFile({ dataFile, clock: systemClock, random: systemRandom });
  await ensureProject(store);
  await store.close();
});
afterEach(() => rm(state.folder, { recursive: true, force: true }));

test("service clock shows the lead, and --reset ends it once it is confirmed", async () => {
  expect(await run("clock")).toMatchObject({ status: 0, stderr: "" });
  const args = ["service", "key", "add", ...data()];
  expect(await runCli({ args, home: state.folder, env: YEARS_AHEAD })).toMatchObject({ status: 0 });
  const shown = JSON.parse((await run("clock", "-o", "json")).stdout) as Record<string, number>;
  expect(shown["newest_write"]! - shown["clock"]!).toBe(shown["behind"]);
  expect(shown["behind"]).toBeGreaterThan(300_000_000);
  const unasked =
    "error: service clock --reset requires confirmation, and there is no terminal to ask on; pass --yes\n";
  expect(await run("clock", "--reset")).toMatchObject({ status: 2, stderr: unasked });
  expect(await run("clock", "--reset", "--yes")).toMatchObject({
    status: 0,
    stderr: "Surveys and retries wait by the clock.\n",
  });
  expect(JSON.parse((await run("clock", "-o", "json")).stdout)).toMatchObject({ behind: 0 });
});
