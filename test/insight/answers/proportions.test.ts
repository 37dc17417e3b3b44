import { expect, it } from "vitest";
import { meanInterval, shareInterval } from "../../../src/insight/answers/proportions.ts";

const rounded = (value: { readonly low: number; readonly high: number } | null) =>
  value === null ? null : [value.low, value.high].map((end) => Number(end.toFixed(4)));

// Newcombe 1998, table I, method 3.
it.each([
  [81, 263, [0.2553, 0.3662]],
  [15, 148, [0.0624, 0.1605]],
  [0, 20, [0, 0.1611]],
  [1, 29, [0.0061, 0.1718]],
  [3, 3, [0.4385, 1]],
])("when %d of %d chose it, then the interval is Wilson's", (part, all, ends) => {
  expect(rounded(shareInterval(part, all))).toEqual(ends);
});

it("when nobody answered, then there is no interval", () => {
  expect([shareInterval(0, 0), meanInterval(new Map(), { from: 0, to: 10 })]).toEqual([null, null]);
});

// Student's t for 95% at 1, 2, 3, 9 and 99 degrees of freedom.
it.each([
  [2, 12.7062],
  [3, 4.3027],
  [4, 3.1824],
  [10, 2.2622],
  [100, 1.9842],
])("when there are %d answers, then the mean's interval is Student's to one per cent", (n, t) => {
  const wide = { from: -1000, to: 1000 };
  const values = new Map(Array.from({ length: n }, (_, at) => [at, 1]));
  const mean = (n - 1) / 2;
  const variance = [...values.keys()].reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  const found = meanInterval(values, wide);
  expect(found?.mean).toBe(mean);
  const reach = ((found?.high ?? 0) - mean) / Math.sqrt(variance / n);
  expect(Math.abs(reach / t - 1)).toBeLessThan(0.01);
});

it("when there is one answer, then the interval is the whole scale", () => {
  expect(meanInterval(new Map([[4, 1]]), { from: 0, to: 10 })).toEqual({ mean: 4, low: 0, high: 10 });
});
