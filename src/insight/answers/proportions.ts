import { CONFIDENCE_DEFAULT, criticalValue } from "../interval.ts";

export interface Estimate {
  readonly low: number;
  readonly high: number;
}

/** The Wilson interval (1927) of the share of `part` in `all`, from 0 to 1; null if `all` is 0. */
export function shareInterval(part: number, all: number): Estimate | null {
  if (all === 0) return null;
  const z = criticalValue(CONFIDENCE_DEFAULT);
  const share = part / all;
  const centre = (share + (z * z) / (2 * all)) / (1 + (z * z) / all);
  const reach = (z * Math.sqrt((share * (1 - share)) / all + (z * z) / (4 * all * all))) / (1 + (z * z) / all);
  return { low: Math.max(0, centre - reach), high: Math.min(1, centre + reach) };
}

export type Distribution = ReadonlyMap<number, number>;

/** The mean and its Student's t interval, within `range`. Null without answers; the whole range for a single one. */
export function meanInterval(counts: Distribution, range: { readonly from: number; readonly to: number }) {
  const rows = [...counts];
  const n = rows.reduce((sum, [, count]) => sum + count, 0);
  if (n === 0) return null;
  const mean = rows.reduce((sum, [value, count]) => sum + value * count, 0) / n;
  const squares = rows.reduce((sum, [value, count]) => sum + count * (value - mean) ** 2, 0);
  const reach = n === 1 ? Infinity : studentValue(n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { mean, low: Math.max(range.from, mean - reach), high: Math.min(range.to, mean + reach) };
}

/** Half the width of the interval in standard errors, accurate to one percent (Abramowitz and Stegun 26.7.5). */
function studentValue(freedom: number): number {
  const confidence = CONFIDENCE_DEFAULT;
  if (freedom === 1) return Math.tan((Math.PI / 2) * confidence);
  if (freedom === 2) return confidence * Math.sqrt(2 / (1 - confidence * confidence));
  const z = criticalValue(confidence);
  const terms = [
    z,
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
  ];
  return terms.reduce((sum, term, power) => sum + term / freedom ** power, 0);
}
