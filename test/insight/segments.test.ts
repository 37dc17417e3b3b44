import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { netPromoterScore, scoreChange, type ScoreCounts } from "../../src/insight/interval.ts";
import {
  addAnswer,
  benjaminiHochberg,
  createTally,
  explainChange,
  mergeTally,
  segmentRows,
  type SegmentTally,
  type Side,
  TooManyValuesError,
} from "../../src/insight/segments.ts";

type Counts = readonly [detractors: number, passives: number, promoters: number];

function tallyOf(segments: readonly (readonly [value: string | null, side: Side, counts: Counts])[]): SegmentTally {
  const tally = createTally(["plan"]);
  for (const [value, side, counts] of segments)
    for (const [index, kind] of (["detractors", "passives", "promoters"] as const).entries())
      for (let left = counts[index] ?? 0; left > 0; left -= 1) addAnswer(tally, { kind, side }, () => value);
  return tally;
}

const named = ([detractors, passives, promoters]: Counts): ScoreCounts => ({ detractors, passives, promoters });

describe("the rows of a segment", () => {
  const tally = tallyOf([
    ["free", "before", [10, 10, 20]],
    ["free", "after", [20, 10, 10]],
    ["pro", "after", [6, 13, 32]],
    ["trial", "after", [0, 0, 9]],
    [null, "after", [50, 0, 0]],
  ]);
  const options = { confidence: 0.95, minN: 10, compared: false };

  it("are each value's own score, and its share of the answers that have the property", () => {
    const { rows, hidden } = segmentRows(tally, options);
    const shown = rows.map(({ nps, nps_low, nps_high, ...row }) => ({
      ...row,
      score: [nps, nps_low, nps_high].map((value) => value.toFixed(3)),
    }));
    expect([shown, hidden]).toEqual([
      [
        { property: "plan", value: "pro", n: 51, share: 0.51, score: ["50.980", "29.295", "67.001"] },
        { property: "plan", value: "free", n: 40, share: 0.4, score: ["-25.000", "-47.875", "1.364"] },
      ],
      1,
    ]);
  });

  it("have a change where both periods have enough answers", () => {
    const { rows } = segmentRows(tally, { ...options, compared: true });
    const change = scoreChange(named([10, 10, 20]), named([20, 10, 10]));
    expect(rows.map(({ value, change: found, p, q }) => [value, found, p, q])).toEqual([
      ["pro", null, null, null],
      ["free", change?.change, change?.p, change?.p],
    ]);
  });

  it("are hidden under the limit, and counted", () => {
    const shown = [1, 41, 100].map((minN) => {
      const { rows, hidden } = segmentRows(tally, { ...options, minN });
      return [rows.map(({ value }) => value), hidden];
    });
    expect(shown).toEqual([
      [["pro", "free", "trial"], 0],
      [["pro"], 2],
      [[], 3],
    ]);
  });

  it("are the same however the answers were read", () => {
    const [first, second] = [tallyOf([["pro", "after", [1, 2, 3]]]), tallyOf([["pro", "before", [4, 5, 6]]])];
    mergeTally(first, second);
    expect(first).toEqual(
      tallyOf([
        ["pro", "before", [4, 5, 6]],
        ["pro", "after", [1, 2, 3]],
      ]),
    );
  });

  it("are refused for a property of more than fifty values, by its name", () => {
    const values = Array.from({ length: 50 }, (_, index) => [`v${index}`, "after", [0, 0, 1]] as const);
    const full = tallyOf(values);
    const more = tallyOf([["v50", "after", [0, 0, 1]]]);
    expect(() => mergeTally(full, more)).toThrow(TooManyValuesError);
    expect(() => tallyOf([...values, ["v50", "after", [0, 0, 1]]])).toThrow(
      "the property plan has more than 50 values",
    );
  });
});

describe("the false discovery rate", () => {
  it("is as published", () => {
    const found = benjaminiHochberg([0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205]);
    const expected = [0.008, 0.032, 0.0672, 0.0672, 0.0672, 0.08, 0.08457, 0.205];
    expect(found.map((q) => q.toFixed(4))).toEqual(expected.map((q) => q.toFixed(4)));
  });

  it("keeps twenty segments without a change from showing one, in 19 of 20 families", () => {
    // Uncorrected, 64 of 100 families would have a p below .05.
    const family = Array.from({ length: 20 }, (_, index) => (index + 1) / 21);
    expect(Math.min(...benjaminiHochberg(family))).toBeGreaterThan(0.9);
    expect(Math.min(...family)).toBeLessThan(0.05);
  });

  it("keeps the order of the given values", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 }), (ps) => {
        const qs = benjaminiHochberg(ps);
        for (const [index, p] of ps.entries()) {
          expect(qs[index]).toBeGreaterThanOrEqual(p);
          expect(qs[index]).toBeLessThanOrEqual(1);
        }
        const order = ps.map((_, at) => at).toSorted((a, b) => (ps[a] ?? 0) - (ps[b] ?? 0));
        const ordered = order.map((at) => qs[at] ?? 0);
        expect(ordered).toEqual(ordered.toSorted((a, b) => a - b));
      }),
    );
  });
});

describe("why a score changed", () => {
  it("is the mix where every group rose and the whole fell", () => {
    const tally = tallyOf([
      ["pro", "before", [0, 40, 40]],
      ["free", "before", [4, 14, 2]],
      ["pro", "after", [0, 24, 26]],
      ["free", "after", [8, 38, 4]],
    ]);
    const { change, mix, within, segments } = explainChange(tally, "plan") ?? { change: 0, mix: 0, within: 0 };
    expect([change, mix, within].map((value) => value.toFixed(9))).toEqual([
      "-16.000000000",
      "-18.000000000",
      "2.000000000",
    ]);
    expect(segments?.map(({ mix: own, within: inside, ...rest }) => [rest, own.toFixed(3), inside.toFixed(3)])).toEqual(
      [
        [
          { value: "pro", n_before: 80, n: 50, share_before: 0.8, share: 0.5, nps_before: 50, nps: 52 },
          "-15.300",
          "1.300",
        ],
        [
          { value: "free", n_before: 20, n: 50, share_before: 0.2, share: 0.5, nps_before: -10, nps: -8 },
          "-2.700",
          "0.700",
        ],
      ],
    );
  });

  it("is unknown where nobody answered before", () => {
    expect(explainChange(tallyOf([["pro", "after", [1, 1, 1]]]), "plan")).toBeNull();
  });

  it("adds up to the change of the raw score, whatever the segments", () => {
    const counts = fc.tuple(fc.nat(30), fc.nat(30), fc.nat(30));
    const value = fc.constantFrom(null, "a", "b", "c");
    const side = fc.constantFrom<Side>("before", "after");
    fc.assert(
      fc.property(fc.array(fc.tuple(value, side, counts), { maxLength: 10 }), (given) => {
        const tally = tallyOf(given);
        const split = explainChange(tally, "plan");
        const [before, after] = [netPromoterScore(tally.all.before), netPromoterScore(tally.all.after)];
        fc.pre(before !== null && after !== null);
        expect(split?.change).toBeCloseTo((after ?? 0) - (before ?? 0), 9);
        expect((split?.mix ?? 0) + (split?.within ?? 0)).toBe(split?.change);
        const sum = (part: "mix" | "within"): number => split?.segments.reduce((all, each) => all + each[part], 0) ?? 0;
        expect([sum("mix"), sum("within")]).toEqual([split?.mix, split?.within]);
      }),
    );
  });
});
