/** A question without a choice sends nothing, so the field `asked` names each question of the form. */
import type { HttpResponse } from "../../contract/http.ts";
import { characterCount, SCORE_MAX, SCORE_MIN } from "../../contract/limits.ts";
import { type AnswerSteps, takeAnswer, type TakenAnswer } from "../domain/answers/take-answer.ts";
import type { Store } from "../domain/ports.ts";
import type { GivenAnswers } from "../domain/answers/answer-questions.ts";
import { pageResponse } from "./document.ts";
import { askToWait, isToken } from "./page-request.ts";
import { questionsPage } from "./questions-page.ts";
import { formPage, type FormView, type SurveyView } from "./survey-page.ts";

/** Null unless the link names exactly one score. */
export function linkedScore(query: string, rest: string): number | null {
  const named = new URLSearchParams(query).getAll("score");
  return readScore(rest) ?? (named.length === 1 ? readScore(named[0] ?? "") : null);
}

export function readScore(text: string): number | null {
  const score = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return score >= SCORE_MIN && score <= SCORE_MAX ? score : null;
}

export interface PageForm extends Pick<FormView, "score" | "comment" | "problem"> {
  readonly answers: GivenAnswers;
  readonly by: "script" | "button";
  readonly hasComment: boolean;
  readonly isTooLarge: boolean;
  readonly givenVisit: string | null;
}

/** Maximum characters. A longer comment is rejected and shown again. */
const COMMENT_MAX = 5000;
/** Maximum bytes of the form, enough for the longest comment in any script. */
const FORM_MAX = 64 * 1024;

const FIELD = /^answers\[([a-z0-9_-]{1,40})\](?:\[\])?$/;

/** `stored` is the score to use if the form has only answers to further questions. */
export function readForm(body: Uint8Array, stored: number | null = null): PageForm {
  const fields = new URLSearchParams(new TextDecoder().decode(body));
  const answers = readAnswers(fields);
  const scores = fields.getAll("score");
  const own = scores.length === 1 ? readScore(scores[0] ?? "") : null;
  const score = scores.length === 0 && answers.size > 0 ? stored : own;
  const comment = cleanText(fields.get("comment") ?? "");
  const visit = fields.get("visit") ?? "";
  const isTooLarge = body.byteLength > FORM_MAX;
  const isLong = characterCount(comment) > COMMENT_MAX || (isTooLarge && scores.length > 0);
  return {
    score,
    comment,
    answers,
    hasComment: fields.has("comment"),
    by: fields.get("by") === "script" ? "script" : "button",
    isTooLarge,
    givenVisit: isToken(visit) ? visit : null,
    problem: score === null ? { kind: "score" } : isLong ? { kind: "comment", max: COMMENT_MAX } : null,
  };
}

function readAnswers(fields: URLSearchParams): GivenAnswers {
  const given = new Map<string, string[]>();
  for (const [name, value] of fields) {
    const id = name === "asked" ? value : FIELD.exec(name)?.[1];
    if (id === undefined || id === "") continue;
    const values = given.get(id) ?? [];
    given.set(id, values);
    if (name !== "asked") values.push(cleanText(value));
  }
  return given;
}

function cleanText(text: string): string {
  return text.replaceAll("\0", "").replaceAll(/\r\n?/g, "\n");
}

interface AnsweredPage extends AnswerSteps {
  readonly view: SurveyView;
  /** The stored comment, shown again if the form has none. */
  readonly comment: string;
  readonly reply: (taken: TakenAnswer & { readonly kind: "stored" }, isAsking: boolean) => HttpResponse;
}

/** Shows the form again if it has a mistake or exceeds a rate limit. */
export async function answerForm(store: Store, form: PageForm, page: AnsweredPage): Promise<HttpResponse> {
  const { view, reply, ...steps } = page;
  const { score, answers, isTooLarge } = form;
  const again = { ...view, ...form };
  if (form.problem !== null || score === null) return pageResponse(formPage(again));
  const taken = await takeAnswer(store, { score, answers, isTooLarge, locale: view.words.locale }, steps);
  const { asked } = taken;
  if (taken.kind === "stored") return reply(taken, asked.length > 0 && answers.size === 0);
  const problem = taken.kind === "wrong" ? taken.problem : ({ kind: "busy" } as const);
  const seconds = taken.kind === "busy" ? taken.seconds : 0;
  const isAsked = taken.kind === "wrong" || (asked.length > 0 && answers.size > 0);
  const comment = form.hasComment ? form.comment : page.comment;
  const shown = isAsked
    ? questionsPage({ ...view, asked, given: answers, problem })
    : formPage({ ...again, comment, problem: { kind: "busy" } });
  return askToWait(pageResponse(shown), seconds);
}
