/** Filters that the API does not know (4.3): they work on the rows as they come, page by page, against any service. */
import { createContext, Script } from "node:vm";
import { plainAnswers } from "../../../../contract/questions/additional-answers.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../contract/json.ts";
import { SCORE_MAX, SCORE_MIN, type ScoreCategory, scoreCategory } from "../../../../contract/limits.ts";
import { keepRows, type RowPage } from "../../../../contract/row-page.ts";
import { createTextSearch, type TextSearch } from "../../../../insight/search.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import type { Flags } from "../../../args/flags.ts";
import { badValue, parseKeyValue, parseName } from "../../../args/values.ts";
import {
  parseCondition,
  PROPERTY_FILTER_FLAG,
  type PropertyCondition,
  propertyTests,
} from "../../../command/rows/properties.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import type { Resource } from "../../../render/columns.ts";

/** Conditions for a response to be shown; all of them hold. */
export interface RowFilters {
  readonly scores: ReadonlySet<number> | null;
  readonly search: TextSearch | null;
  readonly properties: readonly PropertyCondition[];
  readonly hasComment: boolean;
  /** All of them. */
  readonly tags: readonly string[];
  /** Questions by id, each with an answer, or with null for any. Of several answers to one question, one has to fit. */
  readonly answers: readonly (readonly [string, string | null])[];
}

export const NO_ROW_FILTERS: RowFilters = {
  scores: null,
  search: null,
  properties: [],
  hasComment: false,
  tags: [],
  answers: [],
};

export const ROW_FLAGS: readonly FlagRecord[] = [
  { flag: "--score", value: "scores", text: "only these scores, such as 9, 0-6 or 0-6,9" },
  { flag: "--search", value: "regex", text: "only comments that match; case and accents are ignored" },
  PROPERTY_FILTER_FLAG,
  { flag: "--has-comment", text: "only with a comment" },
  { flag: "--tag", value: "tag", text: "only with this tag", repeatable: true },
  {
    flag: "--answer",
    value: "id=answer",
    text: "only with this answer to a question: a choice's id, or its text in one language; an id alone matches any",
    repeatable: true,
  },
];

export function readRowFilters(flags: Flags): RowFilters {
  return {
    scores: flags.parse("--score", parseScores),
    search: flags.parse("--search", parseSearch),
    properties: flags.all("--property").map((text) => parseCondition(text, "--property")),
    hasComment: flags.is("--has-comment"),
    tags: flags.all("--tag"),
    answers: flags.all("--answer").map(parseAnswer),
  };
}

function parseAnswer(text: string): readonly [string, string | null] {
  return text.includes("=") ? parseKeyValue(text, "--answer") : [parseName(text, "--answer"), null];
}

function parseScores(text: string, place: string): ReadonlySet<number> {
  const scores = text.split(",").flatMap((part): number[] => {
    const [, from = "", to = from] = /^\s*(\d{1,2})\s*(?:[-–]\s*(\d{1,2})\s*)?$/.exec(part) ?? [];
    const [low, high] = [Number(from), Number(to)];
    if (from === "" || low < SCORE_MIN || high > SCORE_MAX || low > high)
      throw badValue(place, text, `scores from ${SCORE_MIN} to ${SCORE_MAX}, as in 9, 0-6 or 0-6,9`);
    return Array.from({ length: high - low + 1 }, (_, step) => low + step);
  });
  return new Set(scores);
}

/** A pattern that needs longer for a page of comments would need years for some of them. */
const SEARCH_MS_MAX = 2000;
/** Short texts that are hard for a repeat inside a repeat: most such patterns show before anything is asked for. */
const PROBE_REPEATS = 60;
const PROBE_MS_MAX = 500;

/** Throws UsageError for a pattern that is not one, and, as its search does, for one that takes too long. */
export function parseSearch(pattern: string, place: string): TextSearch {
  const search = orUsageError(pattern, place);
  const box = createContext({ work: null });
  const script = new Script("work()");
  const inTime = <Result>(work: () => Result, timeout = SEARCH_MS_MAX): Result => {
    box["work"] = work;
    try {
      return script.runInContext(box, { timeout }) as Result;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      throw new UsageError(`${place}: ${JSON.stringify(pattern)} takes too long to match`, {
        hint: "write it without a repeat inside a repeat, such as (a+)+",
      });
    }
  };
  const letters = new Set(`${pattern.replace(/\\./gu, "")}a1 `);
  inTime(() => [...letters].map((letter) => search.matches(`${letter.repeat(PROBE_REPEATS)}\u0001`)), PROBE_MS_MAX);
  return {
    matches: (text) => inTime(() => search.matches(text)),
    matchEach: (texts) => inTime(() => search.matchEach(texts)),
    spans: (text) => inTime(() => search.spans(text)),
  };
}

function orUsageError(pattern: string, place: string): TextSearch {
  try {
    return createTextSearch(pattern);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const why = /\/[a-z]*: (.*)$/su.exec(error.message)?.[1];
    const reason = why === undefined ? "" : ` (${why.toLowerCase()})`;
    throw new UsageError(`${place}: ${JSON.stringify(pattern)} is not a regular expression${reason}`, {
      hint: String.raw`put \ before a character that is meant as it is, as in \( or \?`,
      cause: error,
    });
  }
}

export type PageFilter = (page: RowPage) => RowPage;

export function createPageFilter({
  scores,
  search,
  properties,
  hasComment,
  tags,
  answers,
}: RowFilters): PageFilter | null {
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

/** Null for a response without a score, which no service should send. */
export function categoryOf({ score }: JsonObject): ScoreCategory | null {
  return typeof score === "number" ? scoreCategory(score) : null;
}

export function commentOf({ comment }: JsonObject): string {
  return typeof comment === "string" ? comment : "";
}

export function tagsOf({ tags }: JsonObject): readonly Json[] {
  return Array.isArray(tags) ? tags : [];
}

/** The specification does not say what a tag is: a text, or an object with a name. Null for anything else. */
export function tagName(tag: Json): string | null {
  if (typeof tag === "string") return tag;
  const name = isJsonObject(tag) ? (tag["name"] ?? tag["text"]) : null;
  return typeof name === "string" ? name : null;
}

/** The texts that name a response's answer to a question; of a choice its id too. */
function answersTo(row: JsonObject, question: string): readonly string[] {
  const answer = plainAnswers(row).find(({ id }) => id === question);
  if (answer === undefined) return [];
  const { value } = answer;
  return typeof value === "object" ? value.flatMap(({ id, text }) => [id, text]) : [String(value)];
}

export function withSearch(resource: Resource, { search }: RowFilters): Resource {
  if (search === null) return resource;
  const columns = resource.columns.map((column) =>
    column.name === "comment" ? { ...column, spans: (text: string) => search.spans(text) } : column,
  );
  return { ...resource, columns };
}
