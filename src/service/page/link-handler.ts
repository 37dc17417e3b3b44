/** `/l/<token>`: a public link, which anybody may answer. Each visitor's answer has a path of its own below it. */
import { unixSeconds } from "../../runtime/clock.ts";
import type { Brand } from "../domain/projects/brand.ts";
import type { ResponseRow, PublicLink } from "../domain/ports.ts";
import { readSpecialProperties } from "../domain/surveys/special-properties.ts";
import { answerByLink, visitLink } from "../domain/surveys/survey-links.ts";
import { linkedScore, readForm } from "./answer-form.ts";
import { seeOther } from "./document.ts";
import {
  isToken,
  languageOf,
  notAllowed,
  type PageHandler,
  type PageRequest,
  type PagesOptions,
  presentSender,
  respond,
  respondUnknown,
  toPageBrand,
  pageWay,
} from "./page-request.ts";
import { formPage, type SurveyView, thanksPage } from "./survey-page.ts";

/** 22 characters. */
const VISIT_BYTES = 16;

export function createLinkHandler(options: PagesOptions): PageHandler {
  const { store, clock, random, answerWindowSeconds } = options;
  const show = async (found: Found, request: PageRequest, visit: string): ReturnType<PageHandler> => {
    const { isSecure } = pageWay(options, request);
    const view = toView(options, found, request, visit);
    const { answer } = found;
    const score = linkedScore(request.query, "");
    const isOpen = answer !== null && unixSeconds(clock) - answer.createdAt <= answerWindowSeconds;
    const page =
      answer === null
        ? formPage({ ...view, score, isChosenByLink: score !== null, comment: "", problem: null, hasScript: false })
        : thanksPage(view, answer, isOpen);
    return respond(page, request, isSecure);
  };
  const answer = async (found: Found, request: PageRequest, visit: string): ReturnType<PageHandler> => {
    const { isSecure } = pageWay(options, request);
    const view = toView(options, found, request, visit);
    const form = readForm(await request.body());
    const { score, comment, hasComment } = form;
    const again = { ...view, ...form, isChosenByLink: false, hasScript: false };
    if (form.problem !== null || score === null) return respond(formPage(again), request, isSecure);
    const seconds = found.answer === null ? secondsToWait(options, found.link, request) : 0;
    if (seconds > 0) {
      const page = respond(formPage({ ...again, problem: { kind: "busy" } }), request, isSecure);
      return { ...page, headers: { ...page.headers, "retry-after": String(seconds) } };
    }
    const given = { score, ...(hasComment ? { comment } : {}) };
    const { id } = found.link.project;
    await store.write((tx) => answerByLink(tx, found.link, visit, given, answerWindowSeconds), { project: id });
    return seeOther(view.action, isSecure);
  };
  return async (request, token, rest) => {
    const found = rest === "" || isToken(rest) ? await findLink(options, token, rest) : null;
    if (found === null) return respondUnknown(options, request);
    const visit = rest === "" ? random.token(VISIT_BYTES) : rest;
    if (request.method === "GET" || request.method === "HEAD") return show(found, request, visit);
    if (request.method === "POST") return answer(found, request, visit);
    return notAllowed(request, pageWay(options, request).isSecure);
  };
}

/** An address that has had its share uses up nothing of the link's. */
function secondsToWait({ addressAnswers, linkAnswers }: PagesOptions, link: PublicLink, request: PageRequest): number {
  const seconds = addressAnswers.count(request.from);
  return seconds > 0 ? seconds : linkAnswers.count(link.token);
}

interface Found {
  readonly link: PublicLink;
  readonly brand: Brand;
  /** What this visitor has answered. */
  readonly answer: ResponseRow | null;
}

function findLink({ store, senderName }: PagesOptions, token: string, visit: string): Promise<Found | null> {
  if (!isToken(token)) return Promise.resolve(null);
  return store.read(async (tx) => {
    const found = await visitLink(tx, token, visit === "" ? null : visit);
    if (found === null) return null;
    const { project, properties } = found.link;
    return { ...found, brand: await presentSender(tx, project, readSpecialProperties(properties), senderName) };
  });
}

/** A link without a language of its own speaks the visitor's. */
function toView(options: PagesOptions, { link, brand }: Found, request: PageRequest, visit: string): SurveyView {
  const { base } = pageWay(options, request);
  const special = readSpecialProperties(link.properties);
  const locale = Object.hasOwn(link.properties, "locale") ? special.locale : languageOf(request);
  return { locale, brand: toPageBrand(brand, base), special, action: `${base}/l/${link.token}/${visit}` };
}
