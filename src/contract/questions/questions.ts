/** Questions beyond the score. The limits are this server's own. */
import type { QuestionType } from "../resources.ts";
import { SCORE_MAX } from "../limits.ts";

export const QUESTION_TYPES = [
  "free_response",
  "scale",
  "select_one",
  "select_many",
] as const satisfies readonly QuestionType[];

export const QUESTIONS_MAX = 10;
export const QUESTION_TEXT_MAX = 500;
export const CHOICES_MIN = 2;
export const CHOICES_MAX = 20;
export const CHOICE_TEXT_MAX = 200;
/** Scales begin at 0 or 1. */
export const SCALE_MAX = 10;
export const FREE_RESPONSE_MAX = 16_384;

export interface NumberSpan {
  readonly from: number;
  readonly to: number;
}

export function isQuestionId(text: string): boolean {
  return /^[a-z0-9_-]{1,40}$/.test(text);
}

export function hasChoices(type: QuestionType): boolean {
  return type === "select_one" || type === "select_many";
}

export function readScale(text: string): NumberSpan | null {
  const span = readSpan(text);
  return span !== null && span.from <= 1 && span.to > span.from && span.to <= SCALE_MAX ? span : null;
}

export const SCALE_FORMS = `a scale from 0 or 1 to at most ${SCALE_MAX}, such as 1-5`;

export function readScores(text: string): readonly NumberSpan[] | null {
  const spans = text.split(",").map((part) => readSpan(part.trim()));
  const found = spans.flatMap((span) => (span === null || span.to > SCORE_MAX ? [] : [span]));
  return found.length === spans.length ? found.toSorted((one, other) => one.from - other.from) : null;
}

export const SCORES_FORMS = `scores from 0 to ${SCORE_MAX}, such as 0-6 or 0-6,9-10`;

function readSpan(text: string): NumberSpan | null {
  const [, first = "", last = first] = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(text.trim()) ?? [];
  const [from, to] = [Number(first), Number(last)];
  return first === "" || from > to ? null : { from, to };
}

export function formatSpans(spans: readonly NumberSpan[]): string {
  return spans.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(",");
}
