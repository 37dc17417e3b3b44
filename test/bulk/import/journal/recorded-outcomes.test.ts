/** `--failed-to` must leave out rows that may have arrived, because importing them again would mail someone twice. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { formatEntry, type JournalEntry } from "../../../../src/bulk/import/journal/journal-entry.ts";
import type { RecordedOutcome } from "../../../../src/bulk/import/journal/outcome.ts";
import { openRecordedOutcomes } from "../../../../src/bulk/import/journal/recorded-outcomes.ts";
import { failedCsv } from "../../../../src/bulk/import/journal/results.ts";
import type { ImportTable } from "../../../../src/bulk/import/table/open-table.ts";

function done(line: number, outcome: Partial<RecordedOutcome>): JournalEntry {
  const all = { outcome: "failed", personId: null, surveyScheduledAt: null, error: "refused" } as const;
  return { done: { line, identifier: `p${line}@x.co`, ...all, ...outcome } };
}

async function failedOf(entries: readonly JournalEntry[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-outcomes-"));
  const journal = path.join(folder, "people.csv.journal");
  await writeFile(journal, entries.map((entry) => `${formatEntry(entry)}\n`).join(""));
  const outcomes = await openRecordedOutcomes(journal);
  onTestFinished(async () => {
    await outcomes.close();
    await rm(folder, { recursive: true, force: true });
  });
  const table: Pick<ImportTable, "headers" | "records"> = {
    headers: ["email"],
    records: async function* () {
      yield [2, 3, 4].map((line) => ({ line, lineEnds: 1, fields: [`p${line}@x.co`] }));
    },
  };
  let text = "";
  for await (const part of failedCsv(table as ImportTable, outcomes)) text += part;
  return text;
}

test("when a row failed and may have arrived all the same, then it is not written", async () => {
  expect(await failedOf([done(2, {}), done(3, { mayHaveArrived: true })])).toBe("email\np2@x.co\n");
});

test("when a row failed and was sent again, then it is not written until that has an outcome", async () => {
  const entries: JournalEntry[] = [{ intent: [2, 3, 4], at: 1 }, done(2, {}), done(3, {}), { intent: [2, 3], at: 2 }];
  expect(await failedOf(entries)).toBe("email\n");
  expect(await failedOf([...entries, done(3, {})])).toBe("email\np3@x.co\n");
});
