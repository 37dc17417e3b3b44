import { propertyText } from "../../../contract/json.ts";
import type { Properties } from "../../../contract/resources.ts";
import { SCORE_MAX, scoreCategory, SEGMENT_VALUES_MAX } from "../../../contract/limits.ts";
import type { ScoreTally } from "../rows.ts";

type ValueCounts = readonly [detractors: number, passives: number, promoters: number];

export interface DayTally {
  readonly scores: readonly number[];
  readonly commented: number;
  /** Counts by property and value; null if the day has too many values for segments. */
  readonly segments: Readonly<Record<string, Readonly<Record<string, ValueCounts>> | null>>;
}

export interface AnswerGroup {
  readonly score: number;
  readonly properties: Properties;
  readonly count: number;
  readonly commented: number;
}

const KIND_PLACES = { detractor: 0, passive: 1, promoter: 2 } as const;

export function tallyDay(groups: readonly AnswerGroup[], properties: readonly string[]): DayTally {
  const scores = Array.from({ length: SCORE_MAX + 1 }, () => 0);
  let commented = 0;
  for (const group of groups) {
    scores[group.score] = (scores[group.score] ?? 0) + group.count;
    commented += group.commented;
  }
  return {
    scores,
    commented,
    segments: Object.fromEntries(properties.map((name) => [name, tallyValues(groups, name)])),
  };
}

function tallyValues(groups: readonly AnswerGroup[], property: string): Record<string, ValueCounts> | null {
  const values = new Map<string, [number, number, number]>();
  for (const { score, properties, count } of groups) {
    const value = propertyText(properties, property);
    if (value === null) continue;
    const counts = values.get(value) ?? [0, 0, 0];
    if (values.size >= SEGMENT_VALUES_MAX && !values.has(value)) return null;
    counts[KIND_PLACES[scoreCategory(score)]] += count;
    values.set(value, counts);
  }
  return Object.fromEntries(values);
}

export function countsOfScores(scores: readonly number[]): ScoreTally {
  const counts = { detractors: 0, passives: 0, promoters: 0 };
  for (const [score, count] of scores.entries()) counts[`${scoreCategory(score)}s`] += count;
  return counts;
}
