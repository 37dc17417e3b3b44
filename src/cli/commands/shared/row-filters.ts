/** Filters for responses that the API doesn't have (4.3). Pages are filtered here, so they work with any service. */
import { plainAnswers } from "../../../contract/questions/additional-answers.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../contract/json.ts";
import { SCORE_MAX, SCORE_MIN, type ScoreCategory, scoreCategory } from "../../../contract/limits.ts";
import { keepRows, type RowPage } from "../../../contract/row-page.ts";
import { badValue, parseKeyValue, parseName } from "../../args/values.ts";
import { PROPERTY_FILTER_FLAG, propertyTests } from "../../kit/rows/properties.ts";
import { flagGroup, type FlagSpec, type GroupValue } from "../../kit/flag-spec.ts";
import { parseSearch } from "./comment-search.ts";

export const TREND = {
  value: "id",
  text: "only responses of this trend",
  parse: parseName,
} as const satisfies FlagSpec;

export const ROW_FILTERS = flagGroup({
  score: { value: "scores", text: "only these scores, such as 9, 0-6 or 0-6,9", parse: parseScores },
  search: { value: "regex", text: "only comments that match; case and accents are ignored", parse: parseSearch },
  properties: PROPERTY_FILTER_FLAG,
  hasComment: { text: "only with a comment" },
  tag: { value: "tag", text: "only with this tag", repeatable: true },
  /** Null matches any answer. Several answers to one question are alternatives. */
  answer: {
    value: "id=answer",
    text: "only with this answer to a question, by the choice's id or text; a question's id alone matches any answer",
    repeatable: true,
    parse: parseAnswer,
  },
});

export type RowFilters = GroupValue<typeof ROW_FILTERS>;

function parseAnswer(text: string, place: string): readonly [string, string | null] {
  return text.includes("=") ? parseKeyValue(text, place) : [parseName(text, place), null];
}

export function parseScores(text: string, place: string): ReadonlySet<number> {
  const scores = text.split(",").flatMap((part): number[] => {
    const [, from = "", to = from] = /^\s*(\d{1,2})\s*(?:[-–]\s*(\d{1,2})\s*)?$/.exec(part) ?? [];
    const [low, high] = [Number(from), Number(to)];
    if (from === "" || low < SCORE_MIN || high > SCORE_MAX || low > high)
      throw badValue(place, text, `scores from ${SCORE_MIN} to ${SCORE_MAX}, as in 9, 0-6 or 0-6,9`);
    return Array.from({ length: high - low + 1 }, (_, step) => low + step);
  });
  return new Set(scores);
}

export type PageFilter = (page: RowPage) => RowPage;

export function createPageFilter(filters: RowFilters): PageFilter | null {
  const { score: scores, search, properties, hasComment, tag: tags, answer: answers } = filters;
  const tests: ((row: JsonObject) => boolean)[] = [];
  if (scores !== null) tests.push(({ score }) => typeof score === "number" && scores.has(score));
  if (hasComment || search !== null) tests.push((row) => commentOf(row).trim() !== "");
  if (tags.length > 0)
    tests.push((row) => {
      const names = new Set(tagsOf(row).map(tagName));
      return tags.every((tag) => names.has(tag));
    });
  tests.push(...propertyTests(properties, "person_properties"));
  for (const id of new Set(answers.map(([name]) => name))) {
    const wanted = new Set(answers.filter(([name]) => name === id).map(([, value]) => value));
    tests.push((row) => answersTo(row, id).some((value) => wanted.has(null) || wanted.has(value)));
  }
  if (tests.length === 0) return null;
  return (page) => {
    const candidates = page.rows.map((row) => tests.every((test) => test(row)));
    if (search === null) return keepRows(page, (_, index) => candidates[index] === true);
    const found = search.matchEach(page.rows.filter((_, index) => candidates[index]).map(commentOf));
    return keepRows(page, (_, index) => candidates[index] === true && found.shift() === true);
  };
}

export function categoryOf({ score }: JsonObject): ScoreCategory | null {
  return typeof score === "number" ? scoreCategory(score) : null;
}

export function commentOf({ comment }: JsonObject): string {
  return typeof comment === "string" ? comment : "";
}

export function tagsOf({ tags }: JsonObject): readonly Json[] {
  return Array.isArray(tags) ? tags : [];
}

/** Accepts a string or an object with a name, because the specification doesn't define tags. Null for anything else. */
export function tagName(tag: Json): string | null {
  if (typeof tag === "string") return tag;
  const name = isJsonObject(tag) ? (tag["name"] ?? tag["text"]) : null;
  return typeof name === "string" ? name : null;
}

/** Returns both ids and texts, because a filter can name a choice by either. */
function answersTo(row: JsonObject, question: string): readonly string[] {
  const answer = plainAnswers(row).find(({ id }) => id === question);
  if (answer === undefined) return [];
  const { value } = answer;
  return typeof value === "object" ? value.flatMap(({ id, text }) => [id, text]) : [String(value)];
}
