/** A sync takes milliseconds, so one per row would dominate an import. */
import { mkdtemp, open, rm, writeFile, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openJournal } from "../../../src/bulk/import/journal/journal.ts";
import { readJournal } from "../../../src/bulk/import/journal/journal-state.ts";
import { PEOPLE_ROWS } from "../../../src/bulk/import/check/kinds.ts";
import { openTable } from "../../../src/bulk/import/table/open-table.ts";
import { sendRows } from "../../../src/bulk/import/send-rows.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { openTestInput } from "../../helpers/input-file.ts";

const ROWS = 1000;

test("an import syncs once for a block of rows, and once for what ends within 10 ms", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-syncs-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, "people.csv");
  await writeFile(file, `email\n${Array.from({ length: ROWS }, (_, n) => `ann${n}@example.com\n`).join("")}`);
  const handle = await open(file);
  const syncs = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, "datasync");
  await handle.close();
  onTestFinished(() => syncs.mockRestore());
  const journal = await openJournal(path.join(folder, "journal"), 0, systemClock);
  const readers = { time: () => null, latestTime: 0, delay: () => null };
  const header = { renames: [], ignored: [], suggest: () => null };
  await sendRows({
    table: await openTable(await openTestInput(file), {
      kind: PEOPLE_ROWS,
      readers,
      header,
      properties: {},
      defaults: {},
    }),
    before: await readJournal(path.join(folder, "journal")),
    journal,
    sender: {
      send: async () => ({ outcome: "scheduled", personId: "7", surveyScheduledAt: 1000, error: null }),
      lookUp: () => Promise.reject(new Error("not expected")),
      isIdempotent: () => false,
      isUnsent: () => false,
      neverRepeatUnknown: false,
      serverNow: () => 500,
    },
    skip: () => null,
    rows: ROWS,
    clock: systemClock,
    sentBy: 550,
    retryUnknown: false,
    concurrency: 4,
    signal: new AbortController().signal,
    onDone: () => undefined,
  });
  await journal.close();
  expect(syncs.mock.calls.length).toBeLessThanOrEqual(ROWS / 25);
});
