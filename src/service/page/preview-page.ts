/** `/s/preview` shows the pages of a survey that doesn't exist. It stores nothing. */
import type { HttpResponse, PathRequest } from "../../contract/http.ts";
import type { Locale } from "../../contract/locales.ts";
import type { Transaction } from "../domain/ports.ts";
import { NO_BRAND } from "../domain/projects/brand.ts";
import { NO_PRESENTATION } from "../domain/projects/presentation.ts";
import { findProblem, questionsFor } from "../domain/answers/answer-questions.ts";
import { readSurveyWords } from "../domain/surveys/survey-words.ts";
import { linkedScore, readForm, readScore } from "./answer-form.ts";
import { pageResponse, seeOther } from "./document.ts";
import { byMethod, type PagesOptions, showProject } from "./page-request.ts";
import { furtherAnswers, QUESTIONS_PATH, questionsPage } from "./questions-page.ts";
import { formPage, type SurveyView, thanksPage } from "./survey-page.ts";

interface Place {
  readonly options: PagesOptions;
  readonly request: PathRequest;
  readonly locale: Locale;
}

export function handlePreview(
  options: PagesOptions,
  request: PathRequest,
  locale: Locale,
  rest: string,
): Promise<HttpResponse> {
  const answered = readScore(new URLSearchParams(request.query).get("answered") ?? "");
  const place: Place = { options, request, locale };
  return byMethod(
    request,
    () => showForm(place, answered, rest),
    () => answerForm(place, answered),
  );
}

const EMPTY = { comment: "", problem: null };

async function showForm(place: Place, answered: number | null, rest: string): Promise<HttpResponse> {
  const { request } = place;
  const score = answered ?? linkedScore(request.query, "");
  const { view, asked } = await readPreview(place, score);
  if (answered === null) return pageResponse(formPage({ ...view, ...EMPTY, score, isChosenByLink: score !== null }));
  const { thanks, questions } = previewUrls(view, answered);
  if (rest === QUESTIONS_PATH && asked.length > 0) {
    const form = { ...view, action: thanks, asked, given: new Map(), problem: null };
    return pageResponse(questionsPage(form));
  }
  const further = furtherAnswers(view, [], asked, questions);
  return pageResponse(thanksPage(view, { score: answered, comment: null, further }, true));
}

async function answerForm(place: Place, answered: number | null): Promise<HttpResponse> {
  const { request } = place;
  const form = readForm(await request.body(), answered);
  const { answers } = form;
  const { view, asked } = await readPreview(place, form.score);
  if (form.problem !== null || form.score === null) return pageResponse(formPage({ ...view, ...form }));
  const { thanks, questions } = previewUrls(view, form.score);
  const problem = findProblem(asked, answers);
  if (problem !== null) {
    const again = { ...view, action: thanks, asked, given: answers, problem };
    return pageResponse(questionsPage(again));
  }
  return seeOther(asked.length > 0 && answers.size === 0 ? questions : thanks);
}

function previewUrls({ action }: SurveyView, answered: number) {
  return { thanks: `${action}?answered=${answered}`, questions: `${action}/${QUESTIONS_PATH}?answered=${answered}` };
}

function readPreview({ options, locale }: Place, score: number | null) {
  return options.store.read(async (tx) => {
    const { project, brand, presentation } = await showPreview(tx, options);
    const words = readSurveyWords({ locale }, presentation, score);
    return {
      view: { brand, words, action: `${options.base}/s/preview-${locale}` },
      asked: project === null || score === null ? [] : await questionsFor(tx, project, { score, locale }),
    };
  });
}

/** Uses the project's settings only if there is just one project, so as not to reveal another's. */
export async function showPreview(tx: Transaction, options: PagesOptions) {
  const [project, another] = await tx.projects.list();
  if (project === undefined || another !== undefined)
    return { project: null, brand: { ...NO_BRAND, name: options.senderName }, presentation: NO_PRESENTATION };
  return { project, ...(await showProject(tx, options, project)) };
}
