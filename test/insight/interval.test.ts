import * as fc from "fast-check";
import jstat from "jstat";
import { describe, expect, it } from "vitest";
import {
  changeVerdict,
  countAnswers,
  netPromoterScore,
  scoreChange,
  type ScoreCounts,
  scoreInterval,
} from "../../src/insight/interval.ts";
import { normalCdf, normalQuantile } from "../../src/insight/normal.ts";

const counts = (detractors: number, passives: number, promoters: number): ScoreCounts => ({
  detractors,
  passives,
  promoters,
});

describe("the interval of a score", () => {
  // Score, then center, standard error and both ends of the adjusted Wald interval.
  const TABLE: readonly (readonly [ScoreCounts, number, number, number, number, number])[] = [
    [counts(1, 2, 3), 33.3333, 22.2222, 24.9828, -26.7433, 71.1877],
    [counts(54, 108, 162), 33.3333, 33.0275, 4.1237, 24.9453, 41.1098],
    [counts(6, 13, 32), 50.9804, 48.1481, 9.6192, 29.2949, 67.0014],
    [counts(16, 30, 61), 42.0561, 40.9091, 7.0471, 27.097, 54.7212],
    [counts(3, 4, 13), 50, 43.4783, 15.7678, 12.574, 74.3826],
    [counts(40, 60, 100), 30, 29.5567, 5.4803, 18.8155, 40.2978],
    [counts(0, 0, 10), 100, 76.9231, 15.0102, 47.5036, 100],
    [counts(0, 10, 0), 0, 0, 9.4211, -18.465, 18.465],
    [counts(75, 675, 250), 17.5, 17.4477, 1.7152, 14.0859, 20.8094],
  ];
  const anyCounts = fc
    .tuple(fc.nat(2000), fc.nat(2000), fc.nat(2000))
    .filter(([down, same, up]) => down + same + up > 0)
    .map(([down, same, up]) => counts(down, same, up));

  it.each(TABLE)("of %j is as published", (given, score, centre, standardError, low, high) => {
    const interval = scoreInterval(given);
    expect(netPromoterScore(given)).toBeCloseTo(score, 3);
    expect(interval?.centre).toBeCloseTo(centre, 3);
    expect(interval?.standardError).toBeCloseTo(standardError, 3);
    expect(interval?.low).toBeCloseTo(low, 3);
    expect(interval?.high).toBeCloseTo(high, 3);
  });

  it("is mirrored where promoters and detractors change places", () => {
    fc.assert(
      fc.property(anyCounts, fc.double({ min: 0.5, max: 0.999, noNaN: true }), (given, confidence) => {
        const own = scoreInterval(given, confidence);
        const mirrored = scoreInterval(counts(given.promoters, given.passives, given.detractors), confidence);
        expect([mirrored?.low, mirrored?.high]).toEqual([-(own?.high ?? 0) + 0, -(own?.low ?? 0) + 0]);
      }),
    );
  });

  it("contains its score", () => {
    fc.assert(
      fc.property(anyCounts, fc.double({ min: 0.5, max: 0.999, noNaN: true }), (given, confidence) => {
        const { low, high } = scoreInterval(given, confidence) ?? { low: 0, high: 0 };
        const score = netPromoterScore(given) ?? 0;
        expect([low <= score, score <= high]).toEqual([true, true]);
      }),
    );
  });

  it("lies within ±100, and has a width also where all say the same", () => {
    fc.assert(
      fc.property(anyCounts, (given) => {
        const { low, high } = scoreInterval(given) ?? { low: 0, high: 0 };
        expect([low >= -100, high <= 100, low < high]).toEqual([true, true, true]);
      }),
    );
  });

  it("becomes narrower with every answer more, and with less confidence", () => {
    fc.assert(
      fc.property(anyCounts, fc.integer({ min: 2, max: 50 }), (given, times) => {
        const more = counts(given.detractors * times, given.passives * times, given.promoters * times);
        // With few answers the interval is cut off at 100.
        fc.pre(countAnswers(given) >= 4);
        expect(widthOf(scoreInterval(more))).toBeLessThan(widthOf(scoreInterval(given)));
        expect(widthOf(scoreInterval(given, 0.9))).toBeLessThan(widthOf(scoreInterval(given)));
      }),
    );
  });

  it.each([20, 30, 50])("covers the truth as often as it says, exactly summed for %i answers", (answers) => {
    const truths = [
      [0.02, 0.08, 0.9],
      [0.15, 0.3, 0.55],
      [1 / 3, 1 / 3, 1 / 3],
      [0.5, 0, 0.5],
    ] as const;
    for (const truth of truths) expect(coverage(truth, answers)).toBeGreaterThanOrEqual(0.93);
  });

  it("is none where nobody answered", () => {
    expect([netPromoterScore(counts(0, 0, 0)), scoreInterval(counts(0, 0, 0))]).toEqual([null, null]);
  });
});

function widthOf(interval: { readonly low: number; readonly high: number } | null): number {
  return interval === null ? Number.NaN : interval.high - interval.low;
}

/** How often the interval contains the true score, over every possible outcome of `answers` answers. */
function coverage([down, same, up]: readonly [number, number, number], answers: number): number {
  const truth = 100 * (up - down);
  let covered = 0;
  for (let detractors = 0; detractors <= answers; detractors += 1)
    for (let promoters = 0; promoters + detractors <= answers; promoters += 1) {
      const passives = answers - detractors - promoters;
      const { low, high } = scoreInterval(counts(detractors, passives, promoters)) ?? { low: 0, high: 0 };
      const ways = factorial(answers) / (factorial(detractors) * factorial(passives) * factorial(promoters));
      if (low <= truth && truth <= high) covered += ways * down ** detractors * same ** passives * up ** promoters;
    }
  return covered;
}

function factorial(n: number): number {
  return n <= 1 ? 1 : n * factorial(n - 1);
}

describe("what other tools get wrong", () => {
  it("counts that promoters and detractors exclude each other", () => {
    // Treated as two independent shares, it would be 14.3 … 20.5.
    const { low, high } = scoreInterval(counts(75, 675, 250)) ?? { low: 0, high: 0 };
    expect([low.toFixed(1), high.toFixed(1)]).toEqual(["14.1", "20.8"]);
  });

  it("gives a 95% interval its two tails of 2.5%", () => {
    const { centre, standardError, high } = scoreInterval(counts(16, 30, 61)) ?? {
      centre: 0,
      standardError: 1,
      high: 0,
    };
    expect((high - centre) / standardError).toBeCloseTo(1.95996, 4);
  });

  it("does not take ten equal answers for certainty", () => {
    expect(widthOf(scoreInterval(counts(0, 0, 10)))).toBeGreaterThan(50);
    expect(coverage([0.02, 0.08, 0.9], 10)).toBeGreaterThan(0.9);
  });

  it("adds up counts, and never percentages that were rounded", () => {
    expect(netPromoterScore(counts(5, 4, 10))).toBeCloseTo(26.3158, 3);
    expect(netPromoterScore(counts(1, 1, 1))).toBe(0);
  });

  it("pools the counts of two groups, and does not average their scores", () => {
    const pooled = counts(2 + 100, 0, 8 + 100);
    expect(netPromoterScore(pooled)).toBeCloseTo(2.857, 3);
  });

  it("finds no change in nine answers, however different", () => {
    expect(changeVerdict(counts(9, 0, 0), counts(0, 0, 90))).toBe("too few");
    expect(changeVerdict(counts(10, 0, 0), counts(0, 0, 90))).toBe("rise");
  });
});

describe("the change between two scores", () => {
  it.each<[ScoreCounts, ScoreCounts, number, number, number, number, number]>([
    [counts(40, 60, 100), counts(30, 60, 110), 9.852, 7.531, -4.909, 24.613, 0.19082],
    [counts(16, 30, 61), counts(25, 30, 52), -16.364, 10.443, -36.832, 4.105, 0.11713],
    [counts(100, 200, 300), counts(80, 190, 330), 8.292, 4.205, 0.05, 16.534, 0.04863],
  ])("from %j to %j is as published", (before, after, change, standardError, low, high, p) => {
    const found = scoreChange(before, after);
    expect(found?.change).toBeCloseTo(change, 3);
    expect(found?.standardError).toBeCloseTo(standardError, 3);
    expect(found?.low).toBeCloseTo(low, 3);
    expect(found?.high).toBeCloseTo(high, 3);
    expect(found?.p).toBeCloseTo(p, 4);
  });

  it("is none where nobody answered on one side", () => {
    expect([scoreChange(counts(0, 0, 0), counts(1, 1, 1)), scoreChange(counts(1, 1, 1), counts(0, 0, 0))]).toEqual([
      null,
      null,
    ]);
  });
});

describe("the normal distribution", () => {
  it.each([
    [0.5, 0],
    [0.975, 1.959963984540054],
    [0.95, 1.6448536269514722],
    [0.8, 0.8416212335729143],
    [0.0005, -3.2905267314918945],
    [1e-10, -6.361340902404056],
  ])("has %f at %f", (share, value) => {
    expect(normalQuantile(share)).toBeCloseTo(value, 12);
    expect(normalCdf(value)).toBeCloseTo(share, 13);
  });

  it("agrees with another implementation everywhere", () => {
    fc.assert(
      fc.property(fc.double({ min: -8, max: 8, noNaN: true }), (value) => {
        expect(Math.abs(normalCdf(value) - jstat.normal.cdf(value, 0, 1))).toBeLessThan(1e-9);
      }),
    );
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 0.999, noNaN: true }), (share) => {
        expect(Math.abs(normalQuantile(share) - jstat.normal.inv(share, 0, 1))).toBeLessThan(1e-6);
        expect(Math.abs(normalCdf(normalQuantile(share)) - share)).toBeLessThan(1e-12);
      }),
    );
  });

  it("goes on smoothly where its two ways of computing meet", () => {
    expect(normalCdf(3)).toBeCloseTo(0.9986501019683699, 13);
    expect(Math.abs(normalCdf(3) - normalCdf(3 - 1e-9))).toBeLessThan(1e-11);
    expect(normalCdf(-40)).toBeLessThan(1e-300);
  });
});
