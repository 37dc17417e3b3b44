import { type PlainAnswer, plainAnswers } from "../../../contract/questions/additional-answers.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { countTexts, mergeTexts, choiceName, type ShownTexts } from "../../../insight/answers/shown-texts.ts";
import { kindOf } from "../../../insight/interval.ts";
import {
  addAnswer,
  createTally,
  mergeTally,
  nameValues,
  type SegmentTally,
  TooManyValuesError,
} from "../../../insight/segments.ts";
import { parseNames } from "../../args/values.ts";
import { propertyOf } from "../../kit/rows/properties.ts";
import { ANSWERS } from "../../kit/rows/watch-properties.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { type FlagGroup, listFlag } from "../../kit/flag-spec.ts";
import { scoreOf } from "./read-responses.ts";

export function segmentFlag(text: string): FlagGroup<readonly string[] | null> {
  return listFlag({ flag: "--segment", value: "names", text }, parseNames);
}

export function rethrowTooMany(error: unknown): never {
  if (!(error instanceof TooManyValuesError)) throw error;
  throw new UsageError(`--segment: ${error.message}`, {
    hint: "choose a property that groups people, such as plan or region",
    cause: error,
  });
}

export interface PageCounts {
  readonly tally: SegmentTally;
  readonly texts: ShownTexts;
}

export function emptyCounts(properties: readonly string[]): PageCounts {
  return { tally: createTally(properties), texts: new Map() };
}

export function countPage(rows: readonly JsonObject[], properties: readonly string[], start: number): PageCounts {
  const { tally, texts } = emptyCounts(properties);
  for (const row of rows) {
    const score = scoreOf(row);
    if (score === null) continue;
    const { created_at: at } = row;
    const side = typeof at === "number" && at < start ? "before" : "after";
    addAnswer(tally, { kind: kindOf(score), side }, (property) => {
      const value = propertyOf(row, "person_properties", property);
      const answer = value === null ? answerOf(row, property) : null;
      if (answer === null) return value;
      countTexts(texts, answer);
      return choicesOf(answer);
    });
  }
  return { tally, texts };
}

export function addPage(sum: PageCounts, page: PageCounts): void {
  mergeTally(sum.tally, page.tally);
  mergeTexts(sum.texts, page.texts);
}

/** Names choices by their most frequent text. */
export function namedTally({ tally, texts }: PageCounts): SegmentTally {
  return nameValues(tally, (property, value) =>
    property.startsWith(ANSWERS) ? choiceName(texts, property.slice(ANSWERS.length), value) : value,
  );
}

function answerOf(row: JsonObject, name: string): PlainAnswer | null {
  if (!name.startsWith(ANSWERS)) return null;
  return plainAnswers(row).find(({ id }) => id === name.slice(ANSWERS.length)) ?? null;
}

/** Returns choice ids, because their texts depend on the survey's language. */
function choicesOf({ value }: PlainAnswer): readonly string[] {
  return typeof value === "object" ? [...new Set(value.map(({ id }) => id))] : [String(value)];
}
