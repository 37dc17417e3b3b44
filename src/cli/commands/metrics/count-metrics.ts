/** Counts metrics of filtered responses, since the API can't filter by scores, words or properties. */
import { toCoreMetrics } from "../../../contract/resources.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { AnswerKind } from "../../../insight/segments.ts";
import type { Deps } from "../../kit/deps.ts";
import type { PropertyCondition } from "../../kit/rows/properties.ts";
import type { TimeFilter } from "../../kit/time-flags.ts";
import { asRecord, type RecordValue } from "../../render/record-output.ts";
import type { PageFilter } from "../shared/row-filters.ts";
import { kindOf, readResponses, scoreOf } from "../shared/read-responses.ts";

export interface ResponseChoice {
  readonly filterPage: PageFilter;
  readonly conditions: readonly PropertyCondition[];
  /** For example `score 0-6, property plan=pro`. */
  readonly words: string;
}

/** The fields of the group `core` per range. The ranges are sorted. */
export async function countMetrics(
  deps: Deps,
  ranges: readonly TimeFilter[],
  trend: string | null,
  { filterPage, conditions }: ResponseChoice,
): Promise<RecordValue[]> {
  const counts = ranges.map(() => ({ detractors: 0, passives: 0, promoters: 0 }));
  let at = 0;
  await readResponses(deps, {
    range: { since: ranges[0]?.since ?? null, until: ranges.at(-1)?.until ?? null },
    trend,
    filterPage,
    properties: { conditions },
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

function toAnswer(row: JsonObject): { readonly time: number; readonly kind: AnswerKind }[] {
  const [score, { created_at: time }] = [scoreOf(row), row];
  return score === null || typeof time !== "number" ? [] : [{ time, kind: kindOf(score) }];
}
