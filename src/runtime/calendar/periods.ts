/** Calendar periods, such as `2026-05`, `2026-Q1` and `last-week`. Weeks begin on Monday (ISO 8601). */
import { createWallClock, firstSecond, toCalendarDay, type CalendarDay } from "../zone.ts";

export const PERIOD_UNITS = ["day", "week", "month", "quarter", "year"] as const;
export type PeriodUnit = (typeof PERIOD_UNITS)[number];

export interface PeriodRange {
  readonly since: number;
  readonly until: number;
}

interface Unit {
  readonly months: number;
  readonly days: number;
  readonly start: (day: CalendarDay) => CalendarDay;
  readonly label: (start: CalendarDay) => string;
}

const UNITS: Readonly<Record<PeriodUnit, Unit>> = {
  day: {
    months: 0,
    days: 1,
    start: (day) => day,
    label: ({ year, month, day }) => `${year}-${two(month)}-${two(day)}`,
  },
  week: { months: 0, days: 7, start: (day) => shift(day, 0, -weekday(day)), label: weekLabel },
  month: {
    months: 1,
    days: 0,
    start: (day) => ({ ...day, day: 1 }),
    label: ({ year, month }) => `${year}-${two(month)}`,
  },
  quarter: {
    months: 3,
    days: 0,
    start: ({ year, month }) => ({ year, month: month - ((month - 1) % 3), day: 1 }),
    label: ({ year, month }) => `${year}-Q${(month + 2) / 3}`,
  },
  year: { months: 12, days: 0, start: ({ year }) => ({ year, month: 1, day: 1 }), label: ({ year }) => String(year) },
};

const CHARTED: readonly (readonly [days: number, unit: PeriodUnit])[] = [
  [16, "day"],
  [120, "week"],
  [800, "month"],
  [2500, "quarter"],
];

/** The shortest unit that divides `days` into no more than about 20 parts. */
export function unitFor(days: number): PeriodUnit {
  return CHARTED.find(([most]) => days <= most)?.[1] ?? "year";
}

export function periodStart(unit: PeriodUnit, day: CalendarDay): CalendarDay {
  return UNITS[unit].start(day);
}

export function periodLabel(unit: PeriodUnit, start: CalendarDay): string {
  return UNITS[unit].label(start);
}

export function labelAt(unit: PeriodUnit, at: number, wallClock: (seconds: number) => number): string {
  return periodLabel(unit, periodStart(unit, toCalendarDay(wallClock(at))));
}

export function movePeriod(unit: PeriodUnit, start: CalendarDay, count: number): CalendarDay {
  return shift(start, UNITS[unit].months * count, UNITS[unit].days * count);
}

export function rangeOf(unit: PeriodUnit, start: CalendarDay, wallClock: (seconds: number) => number): PeriodRange {
  return {
    since: firstSecond(start, wallClock),
    until: firstSecond(movePeriod(unit, start, 1), wallClock) - 1,
  };
}

export interface RangeBefore extends PeriodRange {
  readonly period: string | null;
}

/** The preceding day, week, month, quarter or year if the range is one; otherwise a range of equal length. */
export function rangeBefore({ since, until }: PeriodRange, zone: string | null): RangeBefore {
  const wallClock = createWallClock(zone);
  const day = toCalendarDay(wallClock(since));
  for (const unit of PERIOD_UNITS) {
    const full = rangeOf(unit, periodStart(unit, day), wallClock);
    if (full.since !== since || full.until !== until) continue;
    const previous = movePeriod(unit, day, -1);
    return { period: periodLabel(unit, previous), ...rangeOf(unit, previous, wallClock) };
  }
  return { period: null, since: since - (until - since + 1), until: since - 1 };
}

const WORD = /^(this|last|next)-(week|month|quarter|year)$/;
const AWAY: Readonly<Record<string, number>> = { last: -1, this: 0, next: 1 };
export const DAYS: ReadonlyMap<string, number> = new Map([
  ["yesterday", -1],
  ["today", 0],
  ["tomorrow", 1],
]);

/** Null for text that isn't a period. `now` is Unix seconds, `zone` an IANA name or null for the system's. */
export function readPeriod(
  text: string,
  { now, zone }: { readonly now: number; readonly zone: string | null },
): PeriodRange | null {
  const wallClock = createWallClock(zone);
  const named = readLabel(text) ?? readRelative(text, () => toCalendarDay(wallClock(now)));
  return named === null ? null : rangeOf(named.unit, named.start, wallClock);
}

export interface NamedPeriod {
  readonly unit: PeriodUnit;
  readonly start: CalendarDay;
}

function readRelative(text: string, today: () => CalendarDay): NamedPeriod | null {
  const word = text.toLowerCase();
  const away = DAYS.get(word);
  if (away !== undefined) return { unit: "day", start: movePeriod("day", today(), away) };
  const [, which = "", name] = WORD.exec(word) ?? [];
  if (name === undefined) return null;
  const unit = name as PeriodUnit;
  return { unit, start: movePeriod(unit, periodStart(unit, today()), AWAY[which] ?? 0) };
}

/** Null if the calendar has no such period (2026-13, 2026-W54). */
export function readLabel(text: string): NamedPeriod | null {
  const [, yearText, quarter, week, month, day] =
    /^(\d{4})(?:-Q([1-4])|-W(\d{2})|-(\d{2})(?:-(\d{2}))?)?$/i.exec(text) ?? [];
  if (yearText === undefined) return null;
  const year = Number(yearText);
  const period = ((): NamedPeriod => {
    if (quarter !== undefined) return { unit: "quarter", start: { year, month: Number(quarter) * 3 - 2, day: 1 } };
    const firstWeek = periodStart("week", { year, month: 1, day: 4 });
    if (week !== undefined) return { unit: "week", start: movePeriod("week", firstWeek, Number(week) - 1) };
    if (month === undefined) return { unit: "year", start: { year, month: 1, day: 1 } };
    if (day === undefined) return { unit: "month", start: { year, month: Number(month), day: 1 } };
    return { unit: "day", start: { year, month: Number(month), day: Number(day) } };
  })();
  return periodLabel(period.unit, shift(period.start, 0, 0)) === text.toUpperCase() ? period : null;
}

function shift({ year, month, day }: CalendarDay, months: number, days: number): CalendarDay {
  return toCalendarDay(Date.UTC(year, month - 1 + months, day + days) / 1000);
}

/** 0 is Monday. */
export function weekday({ year, month, day }: CalendarDay): number {
  return (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7;
}

const DAY_MS = 86_400_000;

/** A week belongs to the year of its Thursday. */
function weekLabel(monday: CalendarDay): string {
  const { year, month, day } = shift(monday, 0, 3);
  const dayOfYear = (Date.UTC(year, month - 1, day) - Date.UTC(year, 0, 1)) / DAY_MS;
  return `${year}-W${two(Math.floor(dayOfYear / 7) + 1)}`;
}

function two(part: number): string {
  return String(part).padStart(2, "0");
}
