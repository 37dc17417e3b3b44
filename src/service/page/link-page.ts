import type { HttpResponse, PathRequest } from "../../contract/http.ts";
import type { PublicLink } from "../domain/ports.ts";
import { toFields } from "../domain/answers/answer-questions.ts";
import { readSpecialProperties } from "../domain/surveys/special-properties.ts";
import { surveyWords } from "../domain/surveys/survey-words.ts";
import { answerByLink, type LinkVisit, visitLink } from "../domain/links/survey-links.ts";
import { answerForm, linkedScore, readForm } from "./answer-form.ts";
import { pageResponse } from "./document.ts";
import {
  byMethod,
  isToken,
  type PagesOptions,
  readLanguage,
  respondUnknown,
  type Shown,
  showProject,
} from "./page-request.ts";
import { questionsPage } from "./questions-page.ts";
import { formPage, type SurveyView, thanksPage } from "./survey-page.ts";

const VISIT_BYTES = 16;

export async function handleLink(
  options: PagesOptions,
  request: PathRequest,
  token: string,
  rest: string,
): Promise<HttpResponse> {
  if (rest !== "") return respondUnknown(options, request);
  return byMethod(
    request,
    () => showLink(options, request, token),
    () => answerLink(options, request, token),
  );
}

async function showLink(options: PagesOptions, request: PathRequest, token: string): Promise<HttpResponse> {
  const found = await findLink(options, token, null);
  if (found === null) return respondUnknown(options, request);
  const score = linkedScore(request.query, "");
  const view = toView(options, found, request, options.random.token(VISIT_BYTES), score);
  const chosen = { score, isChosenByLink: score !== null, comment: "", problem: null };
  return pageResponse(formPage({ ...view, ...chosen }));
}

async function answerLink(options: PagesOptions, request: PathRequest, token: string): Promise<HttpResponse> {
  const { store, random, answerWindowSeconds, linkChanges } = options;
  const body = await request.body();
  const visit = readForm(body).givenVisit ?? random.token(VISIT_BYTES);
  const found = await findLink(options, token, visit);
  if (found === null) return respondUnknown(options, request);
  const { link, answer } = found;
  const form = readForm(body, answer?.score ?? null);
  // The form doesn't show the stored comment, so an empty field doesn't mean that the visitor deleted it.
  const given = { score: form.score ?? 0, ...(form.comment.trim() !== "" && { comment: form.comment }) };
  const view = toView(options, found, request, visit, form.score);
  return answerForm(store, form, {
    project: link.project,
    view,
    comment: "",
    wait: () => (answer === null ? secondsToWait(options, link, request) : linkChanges.count(visit)),
    store: (tx) => answerByLink(tx, link, visit, given, answerWindowSeconds),
    // Doesn't redirect, because people might share the new URL. Sending the form again changes nothing.
    reply: ({ asked, answer: { score, mayChange }, further }, isAsking) =>
      pageResponse(
        mayChange && isAsking
          ? questionsPage({ ...view, asked, given: toFields(further), problem: null })
          : thanksPage(toView(options, found, request, visit, score), { score, comment: null }, mayChange),
      ),
  });
}

/** Requests over the address's limit don't count against the link's limit. */
function secondsToWait({ addressAnswers, linkAnswers }: PagesOptions, link: PublicLink, request: PathRequest): number {
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
function toView(
  options: PagesOptions,
  { link, shown }: Found,
  request: PathRequest,
  visit: string,
  score: number | null,
): SurveyView {
  const given = readSpecialProperties(link.properties);
  const special = Object.hasOwn(link.properties, "locale") ? given : { ...given, locale: readLanguage(request) };
  return {
    brand: shown.brand,
    words: surveyWords(special, shown.presentation, score),
    action: `${options.base}/l/${link.token}`,
    visit,
  };
}
