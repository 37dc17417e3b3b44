import type { Coverage } from "../../insight/coverage.ts";
import { periodLabel, movePeriod, rangeOf, periodStart, unitFor } from "../../runtime/calendar/periods.ts";
import { createWallClock, DAY_SECONDS, firstSecond, toCalendarDay, utcDay } from "../../runtime/zone.ts";

export const RANGES = ["30d", "90d", "12m", "all"] as const;
export type RangeName = (typeof RANGES)[number];

const RANGE_DEFAULT: RangeName = "12m";

const utc = createWallClock("UTC");

export function readRangeName(query: string): RangeName | null {
  const text = new URLSearchParams(query).get("range") ?? RANGE_DEFAULT;
  return RANGES.find((range) => range === text) ?? null;
}

export interface RangeStart {
  readonly first: number;
  /** First day of the range to compare with; it ends the day before `first`. */
  readonly before: number;
  readonly words: string;
}

export function startOfRange(range: RangeName, now: number): RangeStart | null {
  if (range === "all") return null;
  if (range === "12m") return { first: monthsAgo(11, now), before: monthsAgo(23, now), words: "the 12 months before" };
  const days = range === "30d" ? 30 : 90;
  const first = utcDay(now) - days + 1;
  return { first, before: first - days, words: `the ${days} days before` };
}

function monthsAgo(count: number, now: number): number {
  return utcDay(firstSecond(movePeriod("month", periodStart("month", toCalendarDay(utc(now))), -count), utc));
}

export interface SharedPeriod extends Coverage {
  /** `2026-W05`, `2026-01`. */
  readonly label: string;
  readonly first: number;
  readonly last: number;
}

/** `isOpen` means that there is no data before the first day, so no period is cut off. */
export function sharedPeriods(firstDay: number, now: number, isOpen: boolean): SharedPeriod[] {
  const today = utcDay(now);
  const unit = unitFor(today - firstDay);
  const periods: SharedPeriod[] = [];
  for (let start = periodStart(unit, toCalendarDay(firstDay * DAY_SECONDS)); ; start = movePeriod(unit, start, 1)) {
    const { since, until } = rangeOf(unit, start, utc);
    const [first, last] = [utcDay(since), utcDay(until)];
    if (first > today) return periods;
    periods.push({
      label: periodLabel(unit, start),
      first: Math.max(first, firstDay),
      last: Math.min(last, today),
      isRunning: now < until,
      isCut: first < firstDay && !isOpen,
    });
  }
}

export function dayText(day: number): string {
  return new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, "2026-05-31".length);
}

export function startOfDay(day: number): number {
  return day * DAY_SECONDS;
}
