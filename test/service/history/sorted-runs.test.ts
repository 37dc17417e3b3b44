import { tmpdir } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { createScratchBytes } from "../../../src/runtime/files/scratch-file.ts";
import { type RunEntry, SortedRuns } from "../../../src/service/history/sorted-runs.ts";
import { TimesById } from "../../../src/service/history/many-numbers.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";

const random = seededRandom(11);
const newest = (one: RunEntry, other: RunEntry): RunEntry => (one.ordinal > other.ordinal ? one : other);
const upTo = (limit: number): number => Math.floor(random() * limit);

test.for([
  ["in the order of their keys", (at: number) => at * 2, 5000],
  ["in any order, of all sizes", () => upTo(2 ** 53), 5000],
  ["of few keys", () => upTo(40), 5000],
  ["too few for a run", () => upTo(20), 30],
] as const)("when rows come %s, then the newest of each key is left, in order", ([, keyAt, rows]) => {
  const scratch = createScratchBytes(tmpdir(), `runs-${upTo(2 ** 40)}`);
  onTestFinished(() => scratch.close());
  const runs = new SortedRuns(newest, scratch, 64);
  const expected = new Map<string, RunEntry>();
  for (let ordinal = 0; ordinal < rows; ordinal += 1) {
    const row = {
      key: keyAt(ordinal),
      check: upTo(2) * upTo(2 ** 32),
      time: upTo(2 ** 33),
      ordinal,
      place: upTo(9000),
    };
    runs.add(row, row.time, row.ordinal, row.place);
    expected.set(`${row.key} ${row.check}`, row);
  }
  const left: RunEntry[] = [];
  runs.finish((entry) => left.push({ ...entry }));
  expect(left).toEqual([...expected.values()].toSorted((a, b) => a.key - b.key || a.check - b.check));
});

test("when times are looked up by id, then each is found, and no other", () => {
  const scratch = createScratchBytes(tmpdir(), "times-by-id");
  onTestFinished(() => scratch.close());
  const times = new TimesById(scratch);
  expect(times.find(1)).toBeNull();
  for (let id = 10; id <= 4000; id += 3) times.add(id, id + 1);
  times.finish();
  for (const id of [4000, 9, 10, 12, 13, 775, 778, 781, 3999, 4003])
    expect([id, times.find(id)]).toEqual([id, id >= 10 && id <= 4000 && id % 3 === 1 ? id + 1 : null]);
});
