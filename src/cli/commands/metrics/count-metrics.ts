/** Metrics of chosen responses, counted here: the API's own numbers know neither scores nor words nor properties. */
import { toCoreMetrics } from "../../../contract/resources.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { AnswerKind } from "../../../insight/segments.ts";
import type { Deps } from "../../command/deps.ts";
import type { PropertyCondition } from "../../command/rows/properties.ts";
import type { TimeFilter } from "../../command/time-flags.ts";
import type { RecordValue } from "../../render/record-output.ts";
import type { PageFilter } from "../shared/row-filters.ts";
import { kindOf, readResponses, scoreOf } from "./read-responses.ts";

export interface ResponseChoice {
  readonly filterPage: PageFilter;
  readonly conditions?: readonly PropertyCondition[];
  /** The filters, as in `score 0-6, property plan=pro`. */
  readonly words: string;
}

interface Counting {
  /** In the order of time, without anything in common. */
  readonly ranges: readonly TimeFilter[];
  readonly trend: string | null;
  readonly choice: Omit<ResponseChoice, "words">;
}

/** The fields of the group `core` for each range, from one reading of all responses between the first and the last. */
export async function countMetrics(deps: Deps, { ranges, trend, choice }: Counting): Promise<RecordValue[]> {
  const counts = ranges.map(() => ({ detractors: 0, passives: 0, promoters: 0 }));
  let at = 0;
  await readResponses(deps, {
    range: { since: ranges[0]?.since ?? null, until: ranges.at(-1)?.until ?? null },
    trend,
    filterPage: choice.filterPage,
    properties: { conditions: choice.conditions },
    toBatch: (rows) => rows.flatMap(toAnswer),
    take(answers) {
      for (const { time, kind } of answers) {
        while (at < ranges.length - 1 && time > (ranges[at]?.until ?? Infinity)) at += 1;
        const count = counts[at];
        if (count !== undefined) count[kind] += 1;
      }
    },
  });
  return counts.map((each) => {
    const json: JsonObject = { ...toCoreMetrics(each) };
    return { json, text: JSON.stringify(json) };
  });
}

function toAnswer(row: JsonObject): { readonly time: number; readonly kind: AnswerKind }[] {
  const [score, { created_at: time }] = [scoreOf(row), row];
  return score === null || typeof time !== "number" ? [] : [{ time, kind: kindOf(score) }];
}
