import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openJournal } from "../../../src/bulk/import/journal.ts";
import type { Clock } from "../../../src/runtime/clock.ts";

let folder = "";
let file = "";

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-journal-"));
  file = path.join(folder, "journal");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** A clock whose sleepers wake when the test says so. */
function createHeldClock(): { clock: Clock; wake: () => void } {
  const sleepers: (() => void)[] = [];
  const sleep = (): Promise<void> => new Promise((resolve) => sleepers.push(resolve));
  return { clock: { now: () => 0, monotonic: () => 0, sleep }, wake: () => sleepers.shift()?.() };
}

test("when entries come soon after a sync, then they wait and share the next one", async () => {
  const { clock, wake } = createHeldClock();
  const journal = await openJournal(file, 0, clock);
  await journal.write({ intent: [2], at: 500 });
  const later = Promise.all([journal.write({ intent: [3], at: 501 }), journal.write({ end: true })]);

  const before = await readFile(file, "utf8");
  wake();
  await later;
  const after = await readFile(file, "utf8");
  wake();
  await journal.close();

  expect([before, after]).toEqual(['{"intent":[2],"at":500}\n', '{"intent":[2],"at":500}\n{"intent":[3],"at":501}\n{"end":true}\n']);
});
