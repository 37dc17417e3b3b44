import { SCORE_MAX, SCORE_MIN } from "../../contract/limits.ts";
import { UsageError } from "../errors/usage-error.ts";
import { badValue } from "./bad-value.ts";

export interface IntegerRange {
  readonly min: number;
  readonly max?: number;
}

/** A whole number in decimal digits. Throws UsageError. */
export function parseInteger(text: string, place: string, { min, max }: IntegerRange): number {
  const value = /^-?\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  const inRange = Number.isSafeInteger(value) && value >= min && value <= (max ?? Infinity);
  if (inRange) return value;
  if (max !== undefined) throw badValue(place, text, `a whole number from ${min} to ${max}`);
  throw new UsageError(`${place}: must be a whole number, ${min} or more (got ${JSON.stringify(text)})`);
}

/** A score, section 4.4. Throws UsageError. */
export function parseScore(text: string, place: string): number {
  return parseInteger(text, place, { min: SCORE_MIN, max: SCORE_MAX });
}

const RATE = /^(\d+(?:\.\d+)?)(?:\/(s|m|h))?$/;
/** What a rate may be counted by. */
export const PERIOD_SECONDS = { s: 1, m: 60, h: 3600 } as const;

/** Requests a second: `10`, `10/s`, `600/m`. Throws UsageError. */
export function parseRate(text: string, place: string): number {
  const match = RATE.exec(text.trim());
  const unit = (match?.[2] ?? "s") as keyof typeof PERIOD_SECONDS;
  const rate = match === null ? 0 : Number(match[1]) / PERIOD_SECONDS[unit];
  if (Number.isFinite(rate) && rate > 0) return rate;
  throw badValue(place, text, "a rate such as 10 (a second), 10/s or 600/m");
}
