import { describe, expect, it } from "vitest";
import { type AlarmCheck, checkAlarm, sequenceRadius } from "../../src/insight/alarm.ts";
import type { ScoreCounts } from "../../src/insight/interval.ts";
import { size } from "../helpers/long.ts";
import { seededRandom } from "../helpers/seeded-random.ts";

type Truth = readonly [detractors: number, passives: number, promoters: number];

const QUIET: Truth = [0.15, 0.3, 0.55];
const TARGET = { target: 40 };

/** Answers as they come, one at a time; looks at each of them from `looks` on. */
function* answersOf([down, same]: Truth, seed: number): Generator<ScoreCounts> {
  const chance = seededRandom(seed);
  const counts = { detractors: 0, passives: 0, promoters: 0 };
  for (;;) {
    const at = chance();
    counts[at < down ? "detractors" : at < down + same ? "passives" : "promoters"] += 1;
    yield { ...counts };
  }
}

/** A year of three answers a day, looked at every day: whether there was an alarm. */
function alarmsIn(truth: Truth, seed: number, target: number | null): boolean {
  let baseline: ScoreCounts | null = null;
  let answers = 0;
  for (const counts of answersOf(truth, seed)) {
    answers += 1;
    if (answers === 20) baseline = counts;
    if (answers === 3 * 365) return false;
    if (answers % 3 !== 0) continue;
    const reference = target === null ? (baseline === null ? null : { baseline }) : { target };
    if (reference !== null && checkAlarm({ counts, reference, confidence: 0.95 }).fires) return true;
  }
  return false;
}

function shareOf(times: number, happens: (seed: number) => boolean): number {
  let count = 0;
  for (let seed = 1; seed <= times; seed += 1) if (happens(seed)) count += 1;
  return count / times;
}

describe("a year in which nothing changes, looked at every day", () => {
  const years = size(100, 1000);

  it.each<[string, Truth]>([
    ["usual answers", QUIET],
    ["nearly all the same", [0.02, 0.08, 0.9]],
    ["as many of each", [1 / 3, 1 / 3, 1 / 3]],
    ["for or against", [0.5, 0, 0.5]],
  ])("raises few alarms: %s", (_, truth) => {
    const score = 100 * (truth[2] - truth[0]);
    expect(shareOf(years, (seed) => alarmsIn(truth, seed, score))).toBeLessThanOrEqual(0.06);
    expect(shareOf(years, (seed) => alarmsIn(truth, seed, null))).toBeLessThanOrEqual(0.06);
  });
});

/** How many answers it takes until the alarm fires. */
function answersUntil(fall: number, seed: number): number {
  const truth: Truth = [QUIET[0] + fall / 200, QUIET[1], QUIET[2] - fall / 200];
  let answers = 0;
  for (const counts of answersOf(truth, seed)) {
    answers += 1;
    if (answers >= 5000 || checkAlarm({ counts, reference: TARGET, confidence: 0.95 }).fires) break;
  }
  return answers;
}

describe("a fall", () => {
  it.each([
    [30, 50, 90],
    [20, 95, 170],
    [10, 380, 620],
  ])("of %i points is noticed after %i to %i answers, as a rule", (fall, least, most) => {
    const counts = Array.from({ length: 101 }, (_, seed) => answersUntil(fall, seed + 1)).toSorted((a, b) => a - b);
    expect(counts[50]).toBeGreaterThan(least);
    expect(counts[50]).toBeLessThan(most);
  });

  it("of the score below the first answers is noticed without a target", () => {
    const baseline = { detractors: 1, passives: 3, promoters: 16 };
    const counts = { detractors: 61, passives: 43, promoters: 76 };
    const { fires, nps, target, n } = checkAlarm({ counts, reference: { baseline }, confidence: 0.95 });
    expect([fires, nps, target, n]).toEqual([true, 0, 75, 160]);
  });
});

function checkDetractors(detractors: number): AlarmCheck {
  return checkAlarm({ counts: { detractors, passives: 0, promoters: 0 }, reference: TARGET, confidence: 0.95 });
}

describe("the rule", () => {
  it("reaches as far as published", () => {
    const deviation = 100 * Math.sqrt(0.7 - 0.4 ** 2);
    expect(sequenceRadius(deviation, 200, 0.05)).toBeCloseTo(15.77, 2);
    expect(sequenceRadius(deviation, 1000, 0.05)).toBeCloseTo(7.33, 2);
  });

  it("says nothing about fewer than twenty answers", () => {
    expect(checkDetractors(19)).toEqual({ n: 19, nps: -100, target: 40, limit: null, fires: false });
    expect(checkDetractors(20)).toMatchObject({ n: 20, nps: -100, fires: true });
  });

  it("fires for no rise", () => {
    const counts = { detractors: 0, passives: 0, promoters: 1000 };
    expect(checkAlarm({ counts, reference: { target: -50 }, confidence: 0.95 })).toMatchObject({
      nps: 100,
      fires: false,
    });
  });

  it("does not count answers that are gone as less than none", () => {
    const reference = { baseline: { detractors: 20, passives: 0, promoters: 0 } };
    const counts = { detractors: 5, passives: 0, promoters: 30 };
    expect(checkAlarm({ counts, reference, confidence: 0.95 })).toMatchObject({ n: 30, nps: 100 });
  });
});
