/** `/s/<token>`: GET shows the form or the stored answer; only POST stores. */
import type { HttpResponse } from "../../contract/http.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import {
  addLook,
  answerSurvey,
  linkState,
  type Look,
  looksScanned,
  noteLook,
  type Visit,
  visitSurvey,
} from "../domain/answers/answers.ts";
import { type AskedQuestion, questionsFor, toFields } from "../domain/questions/answer-questions.ts";
import { readSurveyWords } from "../domain/surveys/survey-words.ts";
import { answerForm, linkedScore, readForm, readScore } from "./answer-form.ts";
import { previewPage } from "./preview-page.ts";
import { createScannerWatch } from "./scanner-watch.ts";
import { type HtmlPage, pageHeaders, pageResponse, seeOther } from "./document.ts";
import {
  byMethod,
  isToken,
  type PageHandler,
  type PagesOptions,
  previewLocale,
  respondUnknown,
  type Shown,
  showProject,
} from "./page-request.ts";
import { furtherAnswers, QUESTIONS_PATH, questionsPage } from "./questions-page.ts";
import { endedPage, formPage, type SurveyView, thanksPage } from "./survey-page.ts";

export function createAnswerHandler(options: PagesOptions): PageHandler {
  const page = byMethod({ show: createShowing(options), answer: createAnswering(options) });
  return (request, token, rest) => {
    const locale = previewLocale(token, request.query);
    return locale === null ? page(request, token, rest) : previewPage(options, request, locale, rest);
  };
}

function createShowing(options: PagesOptions): PageHandler {
  const { clock, answerWindowSeconds } = options;
  const scanners = createScannerWatch(clock);
  const note = createNoting(options);
  return async (request, token, rest) => {
    const found = await findVisit(options, token, rest);
    if (found === null) return respondUnknown(options, request);
    if (rest === QUESTIONS_PATH) return showQuestions(options, found);
    const method = request.method === "HEAD" ? "HEAD" : "GET";
    const look: Look = { method, score: linkedScore(request.query, rest) };
    const isNoted = note(found.visit.survey.project.id, token, look);
    const now = unixSeconds(clock);
    const facts = addLook(found.visit.survey.pageFacts, look, now);
    // Without the note of a look, scanners are recognized less well.
    const isScanned =
      scanners.isScanning(request.from, token) || !isNoted || looksScanned(facts, found.visit.survey.sentAt);
    const moment = { look, now, isScanned, answerWindowSeconds };
    return pageResponse(surveyPage(found, moment));
  };
}

/** Pending notes of one project. */
const LOOKS_MAX = 500;

/**
 * Notes a look in the background. Returns false if too many are pending: while another process locks the project, they
 * would fill the memory and delay answers.
 */
function createNoting({ store, onError }: PagesOptions): (project: number, token: string, look: Look) => boolean {
  const waiting = new Map<number, number>();
  const add = (project: number, count: number): void => {
    const left = (waiting.get(project) ?? 0) + count;
    if (left === 0) waiting.delete(project);
    else waiting.set(project, left);
  };
  return (project, token, look) => {
    if ((waiting.get(project) ?? 0) >= LOOKS_MAX) return false;
    add(project, 1);
    const noted = store.write((tx) => noteLook(tx, token, look), { project });
    void noted.catch(onError).finally(() => add(project, -1));
    return true;
  };
}

function createAnswering(options: PagesOptions): PageHandler {
  const { store, clock, answerWindowSeconds } = options;
  return async (request, token, rest) => {
    const found = await findVisit(options, token, rest);
    if (found === null) return respondUnknown(options, request);
    const { path, visit } = found;
    const state = linkState(visit, unixSeconds(clock), answerWindowSeconds);
    if (state === "ended") return pageResponse(ended(found));
    if (state === "closed") return seeOther(path);
    const form = readForm(await request.body(), visit.answer?.score ?? null);
    const { by, comment, hasComment } = form;
    // The button always works; only the script is limited.
    const limit = by === "script" ? options.scriptChanges : options.linkChanges;
    return answerForm(store, form, {
      project: visit.survey.project,
      view: toView(found, form.score),
      comment: visit.answer?.comment ?? "",
      wait: () => (visit.answer === null ? 0 : limit.count(token)),
      store: (tx) =>
        answerSurvey(tx, token, { score: form.score ?? 0, by, ...(hasComment && { comment }) }, answerWindowSeconds),
      reply: (_, isAsking) =>
        by === "script"
          ? { status: 204, headers: pageHeaders(), body: "" }
          : seeOther(isAsking ? `${path}/${QUESTIONS_PATH}` : path),
    });
  };
}

/** Further questions, or the stored answer if there is nothing to ask or change. */
function showQuestions(options: PagesOptions, found: Found): HttpResponse {
  const { visit, asked } = found;
  const state = linkState(visit, unixSeconds(options.clock), options.answerWindowSeconds);
  if (visit.answer === null || state !== "open" || asked.length === 0) return seeOther(found.path);
  const given = toFields(visit.answer.additionalAnswers);
  const view = toView(found, visit.answer.score);
  return pageResponse(questionsPage({ ...view, asked, given, problem: null }));
}

interface Found {
  readonly base: string;
  readonly path: string;
  readonly visit: Visit;
  readonly shown: Shown;
  readonly asked: readonly AskedQuestion[];
}

function findVisit(options: PagesOptions, token: string, rest: string): Promise<Found | null> {
  const isPath = rest === "" || rest === QUESTIONS_PATH || readScore(rest) !== null;
  if (!isToken(token) || !isPath) return Promise.resolve(null);
  const { store, base } = options;
  return store.read(async (tx) => {
    const visit = await visitSurvey(tx, token);
    if (visit === null) return null;
    const { project, properties } = visit.survey;
    const shown = await showProject(tx, options, project, properties);
    const { score = null } = visit.answer ?? {};
    const { locale } = readSurveyWords(properties, shown.presentation, score);
    const asked = score === null ? [] : await questionsFor(tx, project, { score, locale });
    return { base, path: `${base}/s/${token}`, visit, shown, asked };
  });
}

interface Moment {
  readonly look: Look;
  readonly now: number;
  readonly isScanned: boolean;
  readonly answerWindowSeconds: number;
}

function surveyPage(found: Found, moment: Moment): HtmlPage {
  const { visit, asked } = found;
  const { look, now, isScanned, answerWindowSeconds } = moment;
  const state = linkState(visit, now, answerWindowSeconds);
  if (state === "ended") return ended(found);
  const { answer } = visit;
  const isAnother = answer !== null && look.score !== null && look.score !== answer.score;
  if (answer !== null && (state === "closed" || !isAnother)) {
    const [view, isOpen] = [toView(found, answer.score), state === "open"];
    const link = isOpen && asked.length > 0 ? `${view.action}/${QUESTIONS_PATH}` : null;
    const further = furtherAnswers(view, answer.additionalAnswers, link);
    return thanksPage(view, { ...answer, further }, isOpen);
  }
  return formPage({
    ...toView(found, look.score),
    score: look.score,
    isChosenByLink: look.score !== null,
    comment: answer?.comment ?? "",
    problem: null,
    hasScript: !isScanned && look.score !== null,
  });
}

function ended({ visit, shown }: Found): HtmlPage {
  const { locale } = readSurveyWords(visit.survey.properties, shown.presentation);
  return endedPage(locale, shown.brand);
}

function toView({ visit, shown, base, path }: Found, score: number | null): SurveyView {
  const { channel, unsubscribeToken, properties } = visit.survey;
  const words = readSurveyWords(properties, shown.presentation, score);
  const leaveUrl = channel === "sms" ? `${base}/u/${unsubscribeToken}` : null;
  return { brand: shown.brand, words, action: path, leaveUrl };
}
