/**
 * `/l/<token>`: a public link that anyone can answer. A hidden field identifies a visitor's answer, so that the URL can
 * be shared.
 */
import type { PublicLink } from "../domain/ports.ts";
import { questionsFor, storeAnswers, toFields } from "../domain/questions/answer-questions.ts";
import { readSpecialProperties } from "../domain/surveys/special-properties.ts";
import { surveyWords } from "../domain/surveys/survey-words.ts";
import { answerByLink, type LinkVisit, visitLink } from "../domain/surveys/survey-links.ts";
import { linkedScore, readVisit } from "./answer-form.ts";
import { type HtmlPage, pageResponse } from "./document.ts";
import {
  askToWait,
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
import { findFormProblem, readPageForm } from "./questions/questions-form.ts";
import { type QuestionsProblem, questionsPage } from "./questions/questions-page.ts";
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
    const visit = readVisit(body) ?? random.token(VISIT_BYTES);
    const found = await findLink(options, token, visit);
    if (found === null) return respondUnknown(options, request);
    const viewOf = createView(options, found, request, visit);
    const { form, answers } = readPageForm(body, found.answer?.score ?? null);
    const { score, comment } = form;
    const view = viewOf(score);
    const again = { ...view, ...form, isChosenByLink: false, hasScript: false };
    if (form.problem !== null || score === null) return pageResponse(formPage(again));
    const { project } = found.link;
    const asked = await store.read((tx) => questionsFor(tx, project, { score, locale: view.words.locale }));
    const problem = findFormProblem(asked, answers, body);
    const askAgain = (why: QuestionsProblem): HtmlPage =>
      questionsPage({ ...view, asked, given: answers, problem: why });
    if (problem !== null) return pageResponse(askAgain(problem));
    const isChange = found.answer !== null;
    const seconds = isChange ? options.linkChanges.count(visit) : secondsToWait(options, found.link, request);
    if (seconds > 0) {
      const busy =
        asked.length > 0 && answers.size > 0
          ? askAgain({ kind: "busy" })
          : formPage({ ...again, problem: { kind: "busy" } });
      return askToWait(pageResponse(busy), seconds);
    }
    // Stored comments aren't shown, so an empty field doesn't remove one.
    const given = { score, ...(comment.trim() === "" ? {} : { comment }) };
    const stored = await store.write(
      async (tx) => {
        const link = await answerByLink(tx, found.link, visit, given, answerWindowSeconds);
        const response = link.mayChange ? await tx.responses.byId(project.id, link.responseId) : null;
        if (response !== null) await storeAnswers(tx, project, response, asked, answers);
        return { ...link, fields: toFields(response?.additionalAnswers ?? []) };
      },
      { project: project.id },
    );
    // No redirect: its URL could be shared. Sending the form again changes nothing.
    const { score: kept, mayChange, fields } = stored;
    if (mayChange && asked.length > 0 && answers.size === 0)
      return pageResponse(questionsPage({ ...view, asked, given: fields, problem: null }));
    return pageResponse(thanksPage(viewOf(kept), { score: kept, comment: null }, mayChange));
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
