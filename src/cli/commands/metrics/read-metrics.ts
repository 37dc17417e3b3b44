/** Metrics from the service, one period or many at once (4.7). */
import { endTogether, inParallel } from "../../../runtime/parallel.ts";
import type { ApiReply } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { Coverage } from "../../../insight/coverage.ts";
import { CONCURRENCY_DEFAULT } from "../../args/global-options.ts";
import type { RecordValue } from "../../render/record-output.ts";
import { countMetrics, type ResponseChoice } from "./count-metrics.ts";
import { changesOf } from "./metrics-resource.ts";
import { changeFields, correctVerdicts, intervalFields } from "./statistics.ts";
import { type CalendarDay, createWallClock, firstSecondOf, toCalendarDay } from "../../../runtime/zone.ts";
import {
  labelOf,
  movePeriod,
  type PeriodRange,
  type PeriodUnit,
  rangeBefore,
  type RangeBefore,
  rangeOf,
  readPeriod,
  startOf,
} from "../../../runtime/calendar/periods.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { noTrend, withRefusals } from "../../command/refusals.ts";
import type { TimeFilter } from "../../command/time-flags.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { createTimeFormatter } from "../../render/time.ts";
import { unixSeconds } from "../../../runtime/clock.ts";

export interface MetricsFilters {
  readonly trend: string | null;
  readonly groups: readonly string[] | null;
  readonly choice: ResponseChoice | null;
  readonly confidence: number;
}

/** The metrics of ranges that are in the order of time and have nothing in common, in that order. */
export type MetricsReader = (ranges: readonly TimeFilter[]) => Promise<readonly MetricsAnswer[]>;

export type MetricsAnswer = RecordValue & Partial<Pick<ApiReply, "headers">>;

/** The service's own numbers, or where it does not have the filters, those that are counted here. */
export function createMetricsReader(deps: Deps, filters: MetricsFilters): MetricsReader {
  const { trend, groups, choice } = filters;
  if (choice !== null) return (ranges) => countMetrics(deps, { ranges, trend, choice });
  return (ranges) =>
    withClient(deps, (client) => {
      const answers = endTogether(deps.signal, (signal) =>
        inParallel(ranges, deps.options.concurrency ?? CONCURRENCY_DEFAULT, ({ since, until }) =>
          client.getMetrics({ since, until, trend, groups: groups === null ? null : [...groups] }, { signal }),
        ),
      );
      return withRefusals(answers, noTrend(trend));
    });
}

/** Without responses there is no score: the service's 0 would be read as one. */
export function withoutFalseScore(value: RecordValue): RecordValue {
  if (value.json["response_count"] !== 0 || typeof value.json["nps"] !== "number") return value;
  const json = { ...value.json, nps: null };
  return { json, text: JSON.stringify(json) };
}

/** One object a period: `{"period","since","until", …withStatistics}`, with the changes when `before` is given. */
export async function readPeriods(
  read: MetricsReader,
  periods: readonly Period[],
  { before, confidence }: { readonly before: PeriodRange | null; readonly confidence: number },
): Promise<JsonObject[]> {
  const all = before === null ? periods : [before, ...periods];
  const answers = (await read(all)).map((reply) => withoutFalseScore(reply).json);
  const compare = (answer: JsonObject, index: number): JsonObject =>
    withStatistics(answer, answers[index] ?? {}, confidence);
  const shown =
    before === null
      ? answers.map((answer) => withStatistics(answer, null, confidence))
      : correctVerdicts(answers.slice(1).map(compare), confidence);
  return shown.map((metrics, index) => ({ ...periods[index], ...metrics }));
}

/** The API's fields, what is computed from them, and where `before` is given what changed since. */
export function withStatistics(metrics: JsonObject, before: JsonObject | null, confidence: number): JsonObject {
  const own = { ...metrics, ...intervalFields(metrics, confidence) };
  if (before === null) return own;
  return { ...own, ...changesOf(metrics, before), ...changeFields(before, metrics, confidence) };
}

export interface Period extends PeriodRange {
  /** `2026-01-31`, `2026-W05`, `2026-01`, `2026-Q1`, `2026`. */
  readonly period: string;
}

export interface PeriodRequest {
  readonly unit: PeriodUnit;
  readonly since: number | null;
  readonly until: number | null;
  readonly now: number;
  readonly zone: string | null;
}

const PERIODS_DEFAULT: Readonly<Record<PeriodUnit, number>> = { day: 30, week: 12, month: 12, quarter: 8, year: 5 };
/** Each period is a request. */
const PERIODS_MAX = 1000;

/**
 * The periods from `since` to `until` in order, the first and last cut off there; `before` is the one before the first.
 */
export function listPeriods({ unit, since, until, now, zone }: PeriodRequest): {
  readonly before: RangeBefore;
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
  return { before: rangeBefore(cut[0] ?? whole(first), zone), periods: cut };
}

/** Of a period of `listPeriods`; without `since` the first one counts as whole. */
export function coverageOf(
  { period, since, until }: Period,
  request: Pick<PeriodRequest, "since" | "now" | "zone">,
): Coverage {
  const full = readPeriod(period, request);
  const isCut = (request.since !== null && since !== full?.since) || until !== full?.until;
  return { isRunning: since <= request.now && request.now < until, isCut };
}

/** The range that `--compare previous` compares with, for a range whose open end is now. Throws UsageError. */
export function comparedRange({ clock, options }: Deps, { since, until }: TimeFilter): RangeBefore {
  if (since === null) throw new UsageError("--compare previous requires --since or --by");
  const now = unixSeconds(clock);
  if (until === null && since > now) {
    const iso = createTimeFormatter({ format: "iso", zone: null, now });
    throw new UsageError(`--since (${iso(since)}) is in the future`);
  }
  return rangeBefore({ since, until: until ?? now }, options.timeZone);
}

function tooMany(unit: PeriodUnit): UsageError {
  return new UsageError(`--by ${unit}: more than ${PERIODS_MAX} periods between --since and --until`, {
    hint: "use a longer period",
  });
}
