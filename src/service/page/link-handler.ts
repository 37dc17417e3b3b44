/**
 * `/l/<token>`: a public link that anyone can answer. A hidden field identifies a visitor's answer, so that the URL can
 * be shared.
 */
import type { PublicLink } from "../domain/ports.ts";
import { toFields } from "../domain/questions/answer-questions.ts";
import { readSpecialProperties } from "../domain/surveys/special-properties.ts";
import { surveyWords } from "../domain/surveys/survey-words.ts";
import { answerByLink, type LinkVisit, visitLink } from "../domain/surveys/survey-links.ts";
import { answerForm, linkedScore, readForm } from "./answer-form.ts";
import { pageResponse } from "./document.ts";
import {
  byMethod,
  isToken,
  languageOf,
  type PageHandler,
  type PageRequest,
  type PagesOptions,
  respondUnknown,
  type Shown,
  showProject,
} from "./page-request.ts";
import { questionsPage } from "./questions-page.ts";
import { formPage, type SurveyView, thanksPage } from "./survey-page.ts";

const VISIT_BYTES = 16;

export function createLinkHandler(options: PagesOptions): PageHandler {
  const { random } = options;
  const show: PageHandler = async (request, token) => {
    const found = await findLink(options, token, null);
    if (found === null) return respondUnknown(options, request);
    const score = linkedScore(request.query, "");
    const view = createView(options, found, request, random.token(VISIT_BYTES))(score);
    const chosen = { score, isChosenByLink: score !== null, comment: "", problem: null, hasScript: false };
    return pageResponse(formPage({ ...view, ...chosen }));
  };
  const page = byMethod({ show, answer: createAnswering(options) });
  return async (request, token, rest) => (rest === "" ? page(request, token, rest) : respondUnknown(options, request));
}

function createAnswering(options: PagesOptions): PageHandler {
  const { store, random, answerWindowSeconds } = options;
  return async (request, token) => {
    const body = await request.body();
    const visit = readForm(body).givenVisit ?? random.token(VISIT_BYTES);
    const found = await findLink(options, token, visit);
    if (found === null) return respondUnknown(options, request);
    const { link, answer } = found;
    const viewOf = createView(options, found, request, visit);
    const form = readForm(body, answer?.score ?? null);
    // Stored comments aren't shown, so an empty field doesn't remove one.
    const given = { score: form.score ?? 0, ...(form.comment.trim() !== "" && { comment: form.comment }) };
    return answerForm(store, form, {
      project: link.project,
      view: viewOf(form.score),
      comment: "",
      wait: () => (answer === null ? secondsToWait(options, link, request) : options.linkChanges.count(visit)),
      store: (tx) => answerByLink(tx, link, visit, given, answerWindowSeconds),
      // No redirect: its URL could be shared. Sending the form again changes nothing.
      reply: ({ asked, answer: { score, mayChange }, further }, isAsking) =>
        pageResponse(
          mayChange && isAsking
            ? questionsPage({ ...viewOf(form.score), asked, given: toFields(further), problem: null })
            : thanksPage(viewOf(score), { score, comment: null }, mayChange),
        ),
    });
  };
}

/** Requests over an address's limit don't count against the link's. */
function secondsToWait({ addressAnswers, linkAnswers }: PagesOptions, link: PublicLink, request: PageRequest): number {
  const seconds = addressAnswers.count(request.from);
  return seconds > 0 ? seconds : linkAnswers.count(link.token);
}

interface Found extends LinkVisit {
  readonly shown: Shown;
}

function findLink(options: PagesOptions, token: string, visit: string | null): Promise<Found | null> {
  if (!isToken(token)) return Promise.resolve(null);
  return options.store.read(async (tx) => {
    const found = await visitLink(tx, token, visit);
    if (found === null) return null;
    const { project, properties } = found.link;
    return { ...found, shown: await showProject(tx, options, project, properties) };
  });
}

/** A link without a language uses the visitor's. */
function createView(
  options: PagesOptions,
  { link, shown }: Found,
  request: PageRequest,
  visit: string,
): (score: number | null) => SurveyView {
  const given = readSpecialProperties(link.properties);
  const special = Object.hasOwn(link.properties, "locale") ? given : { ...given, locale: languageOf(request) };
  return (score) => ({
    brand: shown.brand,
    words: surveyWords(special, shown.presentation, score),
    action: `${options.base}/l/${link.token}`,
    visit,
  });
}
