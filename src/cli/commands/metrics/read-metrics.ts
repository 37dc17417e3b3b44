import type { ApiReply } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { toCoreMetrics } from "../../../contract/resources.ts";
import { type Kind, kindOf, noScores } from "../../../insight/interval.ts";
import type { PeriodRange } from "../../../runtime/calendar/periods.ts";
import { abortTogether, inParallel } from "../../../runtime/parallel.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { noTrend, withRefusals } from "../../kit/refusals.ts";
import type { TimeFilter } from "../../kit/time-flags.ts";
import { asRecord, type RecordValue } from "../../render/record-output.ts";
import type { Period } from "../shared/ranges.ts";
import { readResponses, type ResponseChoice, scoreOf } from "../shared/read-responses.ts";
import { changesOf } from "./metrics-resource.ts";
import { changeFields, correctVerdicts, intervalFields } from "./statistics.ts";

export interface MetricsFilters {
  readonly trend: string | null;
  readonly groups: readonly string[] | null;
  readonly choice: ResponseChoice | null;
  readonly confidence: number;
}

export type MetricsAnswer = RecordValue & Partial<Pick<ApiReply, "headers">>;

/** Uses the service's numbers, or counts responses if the API lacks a filter. Ranges are sorted and don't overlap. */
export function readMetrics(
  deps: Deps,
  { trend, groups, choice }: MetricsFilters,
  ranges: readonly TimeFilter[],
): Promise<readonly MetricsAnswer[]> {
  if (choice !== null) return countMetrics(deps, ranges, trend, choice);
  return withClient(deps, (client) => {
    const answers = abortTogether(deps.signal, (signal) =>
      inParallel(ranges, deps.options.concurrency, ({ since, until }) =>
        client.getMetrics({ since, until, trend, groups: groups === null ? null : [...groups] }, { signal }),
      ),
    );
    return withRefusals(answers, noTrend(trend));
  });
}

/** Removes the score of 0 that the service sends when there are no responses. */
export function withoutFalseScore({ json }: RecordValue): JsonObject {
  return json["response_count"] === 0 && typeof json["nps"] === "number" ? { ...json, nps: null } : json;
}

export async function readPeriods(
  deps: Deps,
  filters: MetricsFilters,
  periods: readonly Period[],
  before: PeriodRange | null,
): Promise<JsonObject[]> {
  const { confidence } = filters;
  const answers = await readMetrics(deps, filters, before === null ? periods : [before, ...periods]);
  const metrics = answers.map(withoutFalseScore);
  const shown =
    before === null
      ? metrics.map((each) => withStatistics(each, null, confidence))
      : correctVerdicts(
          metrics.slice(1).map((each, index) => withStatistics(each, metrics[index] ?? {}, confidence)),
          confidence,
        );
  return shown.map((each, index) => ({ ...periods[index], ...each }));
}

export function withStatistics(metrics: JsonObject, before: JsonObject | null, confidence: number): JsonObject {
  const own = { ...metrics, ...intervalFields(metrics, confidence) };
  if (before === null) return own;
  return { ...own, ...changesOf(metrics, before), ...changeFields(before, metrics, confidence) };
}

/** Counts responses itself to get the fields of the group `core` for each range. The ranges are sorted. */
async function countMetrics(
  deps: Deps,
  ranges: readonly TimeFilter[],
  trend: string | null,
  choice: ResponseChoice,
): Promise<RecordValue[]> {
  const counts = ranges.map(noScores);
  let at = 0;
  await readResponses(deps, {
    range: { since: ranges[0]?.since ?? null, until: ranges.at(-1)?.until ?? null },
    trend,
    choice,
    toBatch: (rows) => rows.flatMap(toAnswer),
    take(answers) {
      for (const { time, kind } of answers) {
        while (at < ranges.length - 1 && time > (ranges[at]?.until ?? Infinity)) at += 1;
        const count = counts[at];
        if (count !== undefined) count[kind] += 1;
      }
    },
  });
  return counts.map((each) => asRecord({ ...toCoreMetrics(each) }));
}

function toAnswer(row: JsonObject): { readonly time: number; readonly kind: Kind }[] {
  const [score, { created_at: time }] = [scoreOf(row), row];
  return score === null || typeof time !== "number" ? [] : [{ time, kind: kindOf(score) }];
}
