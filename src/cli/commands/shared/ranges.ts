import type { Coverage } from "../../../insight/coverage.ts";
import {
  periodLabel,
  movePeriod,
  type PeriodRange,
  type PeriodUnit,
  rangeBefore,
  type RangeBefore,
  rangeOf,
  readPeriod,
  periodStart,
} from "../../../runtime/calendar/periods.ts";
import { unixSeconds } from "../../../runtime/clock.ts";
import { type CalendarDay, createWallClock, firstSecond, toCalendarDay } from "../../../runtime/zone.ts";
import type { Deps } from "../../kit/deps.ts";
import type { TimeFilter } from "../../kit/time-flags.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { createTimeFormatter } from "../../render/time.ts";

export interface Period extends PeriodRange {
  readonly period: string;
}

export interface PeriodRequest extends TimeFilter {
  readonly unit: PeriodUnit;
  readonly now: number;
  readonly zone: string | null;
}

const PERIODS_DEFAULT: Readonly<Record<PeriodUnit, number>> = { day: 30, week: 12, month: 12, quarter: 8, year: 5 };
const PERIODS_MAX = 1000;

/** Returns the periods from `since` to `until`, cut to that range, and the period `before` them. */
export function listPeriods({ unit, since, until, now, zone }: PeriodRequest): {
  readonly before: RangeBefore;
  readonly periods: readonly Period[];
} {
  const wallClock = createWallClock(zone);
  const startAt = (seconds: number): CalendarDay => periodStart(unit, toCalendarDay(wallClock(seconds)));
  const whole = (start: CalendarDay): Period => ({
    period: periodLabel(unit, start),
    ...rangeOf(unit, start, wallClock),
  });
  const first = since === null ? movePeriod(unit, startAt(until ?? now), 1 - PERIODS_DEFAULT[unit]) : startAt(since);
  const periods = [whole(first)];
  const last = until ?? whole(startAt(Math.max(now, since ?? now))).until;
  for (
    let start = movePeriod(unit, first, 1);
    firstSecond(start, wallClock) <= last;
    start = movePeriod(unit, start, 1)
  ) {
    if (periods.length === PERIODS_MAX)
      throw new UsageError(`--by ${unit}: more than ${PERIODS_MAX} periods between --since and --until`, {
        hint: "use a longer period",
      });
    periods.push(whole(start));
  }
  const cut = periods.map((period) => ({
    ...period,
    since: Math.max(period.since, since ?? period.since),
    until: Math.min(period.until, last),
  }));
  return { before: rangeBefore(cut[0] ?? whole(first), zone), periods: cut };
}

/** Without `since`, the first period counts as complete. */
export function coverageOf(
  { period, since, until }: Period,
  request: Pick<PeriodRequest, "since" | "now" | "zone">,
): Coverage {
  const full = readPeriod(period, request);
  const isCut = (request.since !== null && since !== full?.since) || until !== full?.until;
  return { isRunning: since <= request.now && request.now < until, isCut };
}

/** The range for `--compare previous`. An open end means now. Throws UsageError. */
export function comparedRange({ clock, options }: Deps, { since, until }: TimeFilter): RangeBefore {
  if (since === null) throw new UsageError("--compare previous requires --since or --by");
  const now = unixSeconds(clock);
  if (until === null && since > now) {
    const iso = createTimeFormatter({ format: "iso", zone: null, now });
    throw new UsageError(`--since (${iso(since)}) is in the future`);
  }
  return rangeBefore({ since, until: until ?? now }, options.timeZone);
}

interface RangeStyle {
  readonly zone: string | null;
  readonly now: number;
  readonly unicode: boolean;
}

/** Returns `all time`, `since 2026-05-01` or `2026-05-01 – 2026-05-31`. */
export function describeRange({ since, until }: TimeFilter, { zone, now, unicode }: RangeStyle): string {
  const write = createTimeFormatter({ format: "local", zone, now });
  const first = since === null ? null : write(since).replace(/ 00:00:00$/, "");
  const last = until === null ? null : write(until).replace(/ 23:59:59$/, "");
  if (first === null) return last === null ? "all time" : `until ${last}`;
  if (last === null) return `since ${first}`;
  return first === last ? first : `${first} ${unicode ? "–" : "-"} ${last}`;
}
