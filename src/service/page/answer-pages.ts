/** `/s/<token>`: GET shows the form or the stored answer; only POST stores. */
import type { HttpResponse, PathRequest } from "../../contract/http.ts";
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
import { type AskedQuestion, questionsFor, toFields } from "../domain/answers/answer-questions.ts";
import { readSurveyWords } from "../domain/surveys/survey-words.ts";
import { answerForm, linkedScore, readForm, readScore } from "./answer-form.ts";
import { handlePreview } from "./preview-page.ts";
import { ScannerWatch } from "./scanner-watch.ts";
import { type HtmlPage, pageHeaders, pageResponse, seeOther } from "./document.ts";
import {
  byMethod,
  isToken,
  type PagesOptions,
  previewLocale,
  respondUnknown,
  type Shown,
  showProject,
} from "./page-request.ts";
import { furtherAnswers, QUESTIONS_PATH, questionsPage } from "./questions-page.ts";
import { endedPage, formPage, type SurveyView, thanksPage } from "./survey-page.ts";

const LOOKS_MAX = 500;

export class AnswerPages {
  readonly #options: PagesOptions;
  readonly #scanners: ScannerWatch;
  readonly #pendingLooks = new Map<number, number>();

  constructor(options: PagesOptions) {
    this.#options = options;
    this.#scanners = new ScannerWatch(options.clock);
  }

  handle(request: PathRequest, token: string, rest: string): Promise<HttpResponse> {
    const locale = previewLocale(token, request.query);
    if (locale !== null) return handlePreview(this.#options, request, locale, rest);
    return byMethod(
      request,
      () => this.#show(request, token, rest),
      () => this.#answer(request, token, rest),
    );
  }

  async #show(request: PathRequest, token: string, rest: string): Promise<HttpResponse> {
    const { clock, answerWindowSeconds } = this.#options;
    const found = await findVisit(this.#options, token, rest);
    if (found === null) return respondUnknown(this.#options, request);
    if (rest === QUESTIONS_PATH) return showQuestions(this.#options, found);
    const { project, pageFacts, sentAt } = found.visit.survey;
    const method = request.method === "HEAD" ? "HEAD" : "GET";
    const look: Look = { method, score: linkedScore(request.query, rest) };
    const isNoted = this.#noteLook(project.id, token, look);
    const now = unixSeconds(clock);
    // A visit that isn't recorded counts as a scanner's, because without the record scanners are harder to recognize.
    const isScanned =
      this.#scanners.isScanning(request.from, token) || !isNoted || looksScanned(addLook(pageFacts, look, now), sentAt);
    return pageResponse(surveyPage(found, { look, now, isScanned, answerWindowSeconds }));
  }

  /**
   * Returns false if too many writes are pending: while another process locks the project, they would fill the memory.
   */
  #noteLook(project: number, token: string, look: Look): boolean {
    const { store, onError } = this.#options;
    if ((this.#pendingLooks.get(project) ?? 0) >= LOOKS_MAX) return false;
    this.#countPending(project, 1);
    const noted = store.write((tx) => noteLook(tx, token, look), { project });
    void noted.catch(onError).finally(() => this.#countPending(project, -1));
    return true;
  }

  #countPending(project: number, change: number): void {
    const left = (this.#pendingLooks.get(project) ?? 0) + change;
    if (left === 0) this.#pendingLooks.delete(project);
    else this.#pendingLooks.set(project, left);
  }

  async #answer(request: PathRequest, token: string, rest: string): Promise<HttpResponse> {
    const { store, clock, answerWindowSeconds, scriptChanges, linkChanges } = this.#options;
    const found = await findVisit(this.#options, token, rest);
    if (found === null) return respondUnknown(this.#options, request);
    const { path, visit } = found;
    const state = linkState(visit, unixSeconds(clock), answerWindowSeconds);
    if (state === "ended") return pageResponse(ended(found));
    if (state === "closed") return seeOther(path);
    const form = readForm(await request.body(), visit.answer?.score ?? null);
    const { by, comment, hasComment } = form;
    // The page's script has its own limit, so it can't use up the button's.
    const limit = by === "script" ? scriptChanges : linkChanges;
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
  }
}

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
    const url = `${view.action}/${QUESTIONS_PATH}`;
    const further = furtherAnswers(view, answer.additionalAnswers, isOpen ? asked : [], url);
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
