/** Calendar periods of `metrics --by`, in a time zone. */
import { createWallClock, firstSecondOf, toCalendarDay, type CalendarDay } from "../../../runtime/zone.ts";
import { labelOf, movePeriod, rangeOf, startOf, type PeriodRange, type PeriodUnit } from "../../args/calendar.ts";
import { UsageError } from "../../errors/usage-error.ts";

export interface Period extends PeriodRange {
  /** `2026-01-31`, `2026-W05`, `2026-01`, `2026-Q1`, `2026`. */
  readonly period: string;
}

export interface PeriodRequest {
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
export function listPeriods({ unit, since, until, now, zone }: PeriodRequest): {
  readonly before: Period;
  readonly periods: readonly Period[];
} {
  const wallClock = createWallClock(zone);
  const startAt = (seconds: number): CalendarDay => startOf(unit, toCalendarDay(wallClock(seconds)));
  const whole = (start: CalendarDay): Period => ({ period: labelOf(unit, start), ...rangeOf(unit, start, wallClock) });
  const first = since === null ? movePeriod(unit, startAt(until ?? now), 1 - PERIODS_DEFAULT[unit]) : startAt(since);
  const periods = [whole(first)];
  const last = until ?? whole(startAt(Math.max(now, since ?? now))).until;
  for (
    let start = movePeriod(unit, first, 1);
    firstSecondOf(start, wallClock) <= last;
    start = movePeriod(unit, start, 1)
  ) {
    if (periods.length === PERIODS_MAX) throw tooMany(unit);
    periods.push(whole(start));
  }
  const cut = periods.map((period) => ({
    ...period,
    since: Math.max(period.since, since ?? period.since),
    until: Math.min(period.until, last),
  }));
  return { before: before(cut[0] ?? whole(first), whole(first), whole(movePeriod(unit, first, -1))), periods: cut };
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
