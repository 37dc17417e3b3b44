/** Calendar periods of `metrics --by`, in a time zone. */
import { createWallClock, firstSecondOf, toCalendarDay, type CalendarDay } from "../../../runtime/zone.ts";
import { UsageError } from "../../errors/usage-error.ts";

export const PERIOD_UNITS = ["day", "week", "month", "quarter", "year"] as const;
export type PeriodUnit = (typeof PERIOD_UNITS)[number];

export interface Period {
  /** `2026-01-31`, `2026-W05`, `2026-01`, `2026-Q1`, `2026`. */
  readonly period: string;
  /** Unix seconds, both inclusive. */
  readonly since: number;
  readonly until: number;
}

export interface PeriodRange {
  readonly unit: PeriodUnit;
  /** Null: as many periods before the last as `PERIODS_DEFAULT` says. */
  readonly since: number | null;
  /** Null: to the end of the period that `now` lies in. */
  readonly until: number | null;
  readonly now: number;
  readonly zone: string | null;
}

/** How many periods are shown when no `--since` says where to begin. */
const PERIODS_DEFAULT: Readonly<Record<PeriodUnit, number>> = { day: 30, week: 12, month: 12, quarter: 8, year: 5 };
/** Each period is a request. */
const PERIODS_MAX = 1000;

/** The periods from `since` to `until` in order, the first and last cut off there; `before` is the one before the first. */
export function listPeriods({ unit, since, until, now, zone }: PeriodRange): {
  readonly before: Period;
  readonly periods: readonly Period[];
} {
  const wallClock = createWallClock(zone);
  const startOf = (seconds: number): CalendarDay => UNITS[unit].start(toCalendarDay(wallClock(seconds)));
  const whole = (start: CalendarDay): Period => ({
    period: UNITS[unit].label(start),
    since: firstSecondOf(start, wallClock),
    until: firstSecondOf(move(unit, start, 1), wallClock) - 1,
  });
  const first = since === null ? move(unit, startOf(until ?? now), 1 - PERIODS_DEFAULT[unit]) : startOf(since);
  const periods = [whole(first)];
  const last = until ?? whole(startOf(Math.max(now, since ?? now))).until;
  for (let start = move(unit, first, 1); firstSecondOf(start, wallClock) <= last; start = move(unit, start, 1)) {
    if (periods.length === PERIODS_MAX) throw tooMany(unit);
    periods.push(whole(start));
  }
  const cut = periods.map((period) => ({
    ...period,
    since: Math.max(period.since, since ?? period.since),
    until: Math.min(period.until, last),
  }));
  return { before: before(cut[0] ?? whole(first), whole(first), whole(move(unit, first, -1))), periods: cut };
}

/** Of a whole period the whole one before it; of one cut off, as many seconds. */
function before(first: Period, wholeFirst: Period, previous: Period): Period {
  if (first.since === wholeFirst.since && first.until === wholeFirst.until) return previous;
  return { ...previous, since: first.since - (first.until - first.since + 1), until: first.since - 1 };
}

function tooMany(unit: PeriodUnit): UsageError {
  return new UsageError(`--by ${unit}: more than ${PERIODS_MAX} periods lie between --since and --until`, {
    hint: "take a longer period",
  });
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

function move(unit: PeriodUnit, start: CalendarDay, count: number): CalendarDay {
  return shift(start, UNITS[unit].months * count, UNITS[unit].days * count);
}

function shift({ year, month, day }: CalendarDay, months: number, days: number): CalendarDay {
  return toCalendarDay(Date.UTC(year, month - 1 + months, day + days) / 1000);
}

/** Days since Monday. */
function weekday({ year, month, day }: CalendarDay): number {
  return (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7;
}

const DAY_MS = 86_400_000;

/** ISO 8601: a week belongs to the year that its Thursday lies in. */
function weekLabel(monday: CalendarDay): string {
  const { year, month, day } = shift(monday, 0, 3);
  const dayOfYear = (Date.UTC(year, month - 1, day) - Date.UTC(year, 0, 1)) / DAY_MS;
  return `${year}-W${two(Math.floor(dayOfYear / 7) + 1)}`;
}

function two(part: number): string {
  return String(part).padStart(2, "0");
}
