/** Commands that only read don't wait for a writer such as a long import. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Engine, openEngine } from "../../../../src/service/store/sqlite/engine/engine.ts";
import { runInside } from "../../../helpers/in-process.ts";
import type { Ended } from "../../../helpers/run-cli.ts";

let home = "";
let data = "";
let writer: Engine;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-looking-"));
  data = path.join(home, ".local/share/surveyctl/local.db");
  await runInside({ args: ["people", "list", "--profile", "local"], home });
  const once = ["share add Board", "digest add grace@example.com --every monday", "digest preview"];
  for (const line of once) if ((await run(line)).status !== 0) throw new Error(`${line} failed`);
  writer = await openEngine(data);
  // The same journal mode as in our own processes.
  writer.exec("PRAGMA journal_mode = WAL; UPDATE projects SET name = name");
  writer.exec("BEGIN IMMEDIATE");
});
afterAll(async () => {
  writer.exec("ROLLBACK");
  writer.close();
  await rm(home, { recursive: true, force: true });
});

function run(line: string): Promise<Ended> {
  return runInside({ args: ["service", ...line.split(" "), "--data", data], home });
}

it.each([
  "settings",
  "brand show",
  "texts show",
  "throttle",
  "reminder",
  "autopilot",
  "project list",
  "key list",
  "delivery status",
  "digest list",
  "digest preview",
  "retention",
])("when somebody else writes, then service %s shows what is there at once", async (line) => {
  const began = performance.now();
  const { status } = await run(line);
  expect(status).toBe(0);
  // Waiting for the writer would take several seconds.
  expect(performance.now() - began).toBeLessThan(4_000);
});
