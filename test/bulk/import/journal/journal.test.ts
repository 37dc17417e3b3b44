import { mkdtemp, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { formatEntry, parseEntry, type JournalEntry } from "../../../../src/bulk/import/journal/journal-entry.ts";
import { openJournal } from "../../../../src/bulk/import/journal/journal.ts";
import { readJournal } from "../../../../src/bulk/import/journal/journal-state.ts";
import { openRecordedOutcomes } from "../../../../src/bulk/import/journal/recorded-outcomes.ts";
import { createFakeClock } from "../../../helpers/fake-clock.ts";
import { isLong } from "../../../helpers/long.ts";

let file = "";
beforeEach(async () => {
  file = path.join(await mkdtemp(path.join(tmpdir(), "surveyctl-journal-")), "journal");
});
afterEach(() => rm(path.dirname(file), { recursive: true, force: true }));

const HEAD = {
  format: 2,
  input: "ab12",
  file: "customers.csv",
  rows: 3,
  command: "people import",
  choices: { "--send": true },
  baseUrl: "http://127.0.0.1:1/",
  key: "0123456789abcdef",
  at: 400,
} as const;
const outcome = (line: number, personId: string | null) =>
  ({
    line,
    identifier: `zoë${line}@example.com`,
    outcome: "saved",
    personId,
    surveyScheduledAt: null,
    error: null,
  }) as const;

async function write(entries: readonly JournalEntry[]): Promise<void> {
  const { length } = await readJournal(file);
  const journal = await openJournal(file, length, createFakeClock());
  await Promise.all(entries.map((entry) => journal.write(entry)));
  await journal.close();
}

async function told(): Promise<unknown> {
  const state = await readJournal(file);
  const lines = [2, 3, 4].map((line) => [line, state.intentAt(line), state.outcomeOf(line)]);
  return { head: state.head, ended: state.ended, lines };
}

it("when its last line is torn at any byte, then it is read up to there and continues from there", async () => {
  await write([{ head: HEAD }, { intent: [2, 3, 4], at: 500 }, { done: outcome(2, "7") }]);
  const { size: whole } = await stat(file);
  await write([{ done: outcome(3, "8") }]);
  const { size } = await stat(file);
  for (let length = size - 1; length >= whole; length -= isLong ? 1 : 5) {
    await truncate(file, length);
    expect((await readJournal(file)).length).toBe(whole);
    expect(await told()).toEqual({
      head: HEAD,
      ended: false,
      lines: [
        [2, 500, "saved"],
        [3, 500, null],
        [4, 500, null],
      ],
    });
  }
  await write([{ done: outcome(3, "9") }, { end: true }]);
  expect(await told()).toEqual({
    head: HEAD,
    ended: true,
    lines: [
      [2, 500, "saved"],
      [3, 500, "saved"],
      [4, 500, null],
    ],
  });
});

it.each(["not ours", "{}", "7", "null", '{"intent":2}', '{"done":{"line":"2"}}', '\0\0\0"line":3}}'])(
  "when a line is %j, then it alone does not count, and nobody behind it is asked again",
  async (nonsense) => {
    const known = [{ head: HEAD }, { intent: [2, 3], at: 500 }, { done: outcome(2, "7") }, { end: true }] as const;
    const [head, intent, done, end] = known.map((entry) => `${formatEntry(entry)}\n`);
    const text = `${head}${intent}${nonsense}\n${done}${nonsense}\n${end}`;
    await writeFile(file, text);
    expect([(await readJournal(file)).length, await told()]).toEqual([
      Buffer.byteLength(text),
      {
        head: HEAD,
        ended: true,
        lines: [
          [2, 500, "saved"],
          [3, 500, null],
          [4, null, null],
        ],
      },
    ]);
  },
);

it("when there is no file, then no run has begun", async () => {
  expect([(await readJournal(file)).length, await told()]).toEqual([
    0,
    {
      head: null,
      ended: false,
      lines: [
        [2, null, null],
        [3, null, null],
        [4, null, null],
      ],
    },
  ]);
});

it("when a line was done more than once, then its last outcome counts, and all come in the order of the lines", async () => {
  await write([
    { head: HEAD },
    { done: outcome(4, "p4") },
    { done: { ...outcome(2, null), outcome: "unknown", error: "the answer\nwas lost" } },
    { done: outcome(3, "0012") },
    { done: outcome(2, "9007199254740993") },
    // Further apart than the read window, so that line 5 has to be looked up again.
    ...Array.from({ length: 3000 }, (_, index) => ({ done: outcome(100_000 + index, "1") })),
    { done: outcome(5, "5") },
  ]);
  const outcomes = await openRecordedOutcomes(file);
  const all = [];
  for await (const batch of outcomes.inOrder()) all.push(...batch);
  expect(all.slice(0, 4)).toEqual([
    outcome(2, "9007199254740993"),
    outcome(3, "0012"),
    outcome(4, "p4"),
    outcome(5, "5"),
  ]);
  expect(all.slice(4).map(({ line }) => line)).toEqual(Array.from({ length: 3000 }, (_, index) => 100_000 + index));
  expect([await outcomes.of(4), await outcomes.of(6), await outcomes.of(102_999)]).toEqual([
    outcome(4, "p4"),
    null,
    outcome(102_999, "1"),
  ]);
  await outcomes.close();
});

it.each(["7", "0", "-1", "007", "1e3", "1.5", "9007199254740993", " 7", "", "person-7", null])(
  "when a person's id is %j, then it is read as it was written",
  (personId) => {
    const entry: JournalEntry = { done: outcome(2, personId) };
    expect(parseEntry(formatEntry(entry))).toEqual(entry);
  },
);

it("when a row failed, then it counts from anew if it was refused, and from its first intent if it may have arrived", async () => {
  const failed = { personId: null, surveyScheduledAt: null, error: "no", outcome: "failed" } as const;
  await write([
    { head: HEAD },
    { intent: [2, 3], at: 500 },
    { done: { line: 2, identifier: "a", ...failed } },
    { done: { line: 3, identifier: "b", ...failed, mayHaveArrived: true } },
  ]);
  const first = await readJournal(file);
  expect([2, 3].map((line) => [first.outcomeOf(line), first.mayHaveArrived(line)])).toEqual([
    ["failed", false],
    ["failed", true],
  ]);
  await write([{ intent: [2, 3], at: 600 }]);
  expect((await told()) as object).toMatchObject({
    lines: [
      [2, 600, null],
      [3, 500, null],
      [4, null, null],
    ],
  });
});

const repeatable = async (): Promise<boolean[]> => {
  const state = await readJournal(file);
  return [2, 3, 4, 5].map((line) => !state.noRepeat(line));
};
const UNKNOWN = { outcome: "unknown", error: "the answer was lost" } as const;
const FAILED = { outcome: "failed", error: "boom", mayHaveArrived: true } as const;

it("when lines were repeated in vain or answered with success, then they are not repeated", async () => {
  await write([
    { head: HEAD },
    { intent: [2, 3, 4, 5], at: 500 },
    { done: { ...outcome(2, null), ...UNKNOWN } },
    { done: { ...outcome(3, null), ...FAILED } },
    { noRepeat: [4, 5] },
    { intent: [2, 3, 4, 5], at: 600 },
  ]);
  expect(await repeatable()).toEqual([true, true, false, false]);
});

it("when a run stopped by itself, then its time is known until another begins", async () => {
  await write([{ head: HEAD }, { intent: [2], at: 500 }, { unsent: [2], at: 510 }]);
  expect([(await readJournal(file)).stoppedAt, (await readJournal(file)).intentAt(2)]).toEqual([510, null]);
  await write([{ intent: [2], at: 600 }]);
  expect((await readJournal(file)).stoppedAt).toBe(null);
});
