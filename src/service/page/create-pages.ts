/** The pages behind the links of messages: which page answers which request, and what a form may change. */
import type { HttpResponse } from "../../contract/http.ts";
import { characterCount, SCORE_MAX, SCORE_MIN } from "../../contract/limits.ts";
import { FALLBACK_LOCALE, isLocale, type Locale } from "../../contract/locales.ts";
import type { Clock } from "../../runtime/clock.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import {
  addLook,
  answerSurvey,
  findUnsubscribeLink,
  linkState,
  type Look,
  looksScanned,
  noteLook,
  resubscribeByLink,
  unsubscribeByLink,
  type Visit,
  visitSurvey,
} from "../domain/answers.ts";
import type { Project } from "../domain/inputs.ts";
import type { Store, Transaction } from "../domain/ports.ts";
import { readSettings } from "../domain/projects.ts";
import { readSpecialProperties, type SpecialProperties } from "../domain/special-properties.ts";
import { pageHeaders, pageResponse, seeOther, unknownLink, type HtmlPage } from "./document.ts";
import { createCrowd } from "./crowd.ts";
import { endedPage, formPage, type FormView, type SurveyView, thanksPage } from "./survey-page.ts";
import { leavingPage, leftPage, returnedPage, type LeavingView } from "./unsubscribe-page.ts";

export interface PagesOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Where browsers see the service, without a slash at the end; null: wherever they sent their request to. */
  readonly publicUrl: string | null;
  /** How long after the first answer it may be changed. */
  readonly answerWindowSeconds: number;
  readonly onError: (error: unknown) => void;
}

export interface PageRequest {
  readonly method: string;
  /** Decoded by nobody; begins with a slash. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Scheme and host that the request was sent to. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: () => Promise<Uint8Array>;
  /** Address of the caller. */
  readonly from: string;
}

export interface Pages {
  /** The answer to a request for a page; null for a path that is none. */
  readonly handle: (request: PageRequest) => Promise<HttpResponse> | null;
}

type Handler = (request: PageRequest, token: string, rest: string) => Promise<HttpResponse>;

const PATH = /^\/([su])\/([^/]+)(?:\/([^/]*))?$/;
/** As the tokens that we make; anything else is nobody's. */
const TOKEN = /^[\w-]{16,64}$/;
const ROBOTS = "User-agent: *\nDisallow: /\n";

export function createPages(options: PagesOptions): Pages {
  const handlers: Readonly<Record<string, Handler>> = {
    s: createSurveyHandler(options),
    u: createLeavingHandler(options),
  };
  return {
    handle: (request) => {
      if (request.path === "/robots.txt") return Promise.resolve(robots(request));
      const [, kind = "", token = "", rest = ""] = PATH.exec(request.path) ?? [];
      return handlers[kind]?.(request, token, rest) ?? null;
    },
  };
}

function robots({ method }: PageRequest): HttpResponse {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return { status: 200, headers, body: method === "HEAD" ? "" : ROBOTS };
}

/** What a request tells about the way to the service. */
function wayOf(
  { publicUrl }: PagesOptions,
  { origin }: PageRequest,
): { readonly isSecure: boolean; readonly base: string; readonly host: string } {
  const { protocol, pathname, hostname } = new URL(publicUrl ?? origin);
  return { isSecure: protocol === "https:", base: pathname === "/" ? "" : pathname, host: hostname };
}

function respond(page: HtmlPage, request: PageRequest, isSecure: boolean): HttpResponse {
  const response = pageResponse(page, isSecure);
  return request.method === "HEAD" ? { ...response, body: "" } : response;
}

function notAllowed(request: PageRequest, isSecure: boolean): HttpResponse {
  const status = request.method === "OPTIONS" ? 204 : 405;
  return { status, headers: { ...pageHeaders(null, isSecure), allow: "GET, HEAD, POST, OPTIONS" }, body: "" };
}

function createSurveyHandler(options: PagesOptions): Handler {
  const { store, clock, answerWindowSeconds } = options;
  const crowd = createCrowd(clock);

  const note = (token: string, look: Look): void => {
    void store.write((tx) => noteLook(tx, token, look)).catch(options.onError);
  };
  const show = async (request: PageRequest, token: string, rest: string): Promise<HttpResponse> => {
    const { isSecure, base } = wayOf(options, request);
    const found = TOKEN.test(token) && isScorePath(rest) ? await findVisit(store, token) : null;
    if (found === null) return respond(unknownLink(languageOf(request)), request, isSecure);
    const look: Look = {
      method: request.method === "HEAD" ? "HEAD" : "GET",
      score: linkedScore(new URLSearchParams(request.query), rest),
    };
    note(token, look);
    const now = unixSeconds(clock);
    const facts = addLook(found.visit.survey.pageFacts, look, now);
    const isScanned = crowd.enters(request.from, token) || looksScanned(facts, found.visit.survey.sentAt);
    return respond(
      surveyPage(found, `${base}/s/${token}`, { look, now, isScanned, answerWindowSeconds }),
      request,
      isSecure,
    );
  };
  const answer = async (request: PageRequest, token: string): Promise<HttpResponse> => {
    const { isSecure, base } = wayOf(options, request);
    const path = `${base}/s/${token}`;
    const found = TOKEN.test(token) ? await findVisit(store, token) : null;
    if (found === null) return respond(unknownLink(languageOf(request)), request, isSecure);
    const view = toView(found, path);
    if (linkState(found.visit, unixSeconds(clock), answerWindowSeconds) === "ended")
      return respond(endedPage(view.locale, view.sender), request, isSecure);
    const form = readForm(await request.body());
    if (form.problem !== null || form.score === null)
      return respond(formPage({ ...view, ...form, isChosenByLink: false, hasScript: false }), request, isSecure);
    const { score, comment, by, hasComment } = form;
    const given = { score, by, ...(hasComment ? { comment } : {}) };
    await store.write((tx) => answerSurvey(tx, token, given, answerWindowSeconds));
    if (by === "button") return seeOther(path, isSecure);
    return { status: 204, headers: pageHeaders(null, isSecure), body: "" };
  };
  return (request, token, rest) => {
    if (request.method === "GET" || request.method === "HEAD") return show(request, token, rest);
    if (request.method === "POST") return answer(request, token);
    return Promise.resolve(notAllowed(request, wayOf(options, request).isSecure));
  };
}

interface Found {
  readonly visit: Visit;
  readonly sender: string | null;
}

async function findVisit(store: Store, token: string): Promise<Found | null> {
  return store.read(async (tx) => {
    const visit = await visitSurvey(tx, token);
    if (visit === null) return null;
    const { project, properties } = visit.survey;
    return { visit, sender: await senderOf(tx, project, readSpecialProperties(properties)) };
  });
}

interface Moment {
  readonly look: Look;
  readonly now: number;
  readonly isScanned: boolean;
  readonly answerWindowSeconds: number;
}

function surveyPage(found: Found, action: string, moment: Moment): HtmlPage {
  const { visit } = found;
  const { look, now, isScanned, answerWindowSeconds } = moment;
  const view = toView(found, action);
  const state = linkState(visit, now, answerWindowSeconds);
  if (state === "ended") return endedPage(view.locale, view.sender);
  const { answer } = visit;
  const isAnother = answer !== null && look.score !== null && look.score !== answer.score;
  if (answer !== null && (state === "closed" || !isAnother)) return thanksPage(view, answer, state === "open");
  return formPage({
    ...view,
    score: look.score,
    isChosenByLink: look.score !== null,
    comment: answer?.comment ?? "",
    problem: null,
    hasScript: !isScanned && look.score !== null,
  });
}

function toView({ visit, sender }: Found, action: string): SurveyView {
  const special = readSpecialProperties(visit.survey.properties);
  return { locale: special.locale, sender, special, action };
}

function isScorePath(rest: string): boolean {
  return rest === "" || parseScore(rest) !== null;
}

/** One score that the link names; what is no score, or more than one, is as if there were none. */
function linkedScore(query: URLSearchParams, rest: string): number | null {
  const named = query.getAll("score");
  return parseScore(rest) ?? (named.length === 1 ? parseScore(named[0] ?? "") : null);
}

function parseScore(text: string): number | null {
  const score = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return score >= SCORE_MIN && score <= SCORE_MAX ? score : null;
}

type AnswerForm = Pick<FormView, "score" | "comment" | "problem"> & {
  readonly by: "script" | "button";
  readonly hasComment: boolean;
};

/** Characters (Unicode code points); a longer comment is refused in place, with what was written. */
const COMMENT_MAX = 5000;
/** Bytes that so long a comment has as a form field in any script. */
const FORM_MAX = 64 * 1024;

function readForm(body: Uint8Array): AnswerForm {
  const fields = new URLSearchParams(new TextDecoder().decode(body));
  const scores = fields.getAll("score");
  const score = scores.length === 1 ? parseScore(scores[0] ?? "") : null;
  const comment = (fields.get("comment") ?? "").replaceAll("\0", "").replaceAll(/\r\n?/g, "\n");
  const isLong = characterCount(comment) > COMMENT_MAX || body.byteLength > FORM_MAX;
  return {
    score,
    comment,
    hasComment: fields.has("comment"),
    by: fields.get("by") === "script" ? "script" : "button",
    problem: score === null ? { kind: "score" } : isLong ? { kind: "comment", max: COMMENT_MAX } : null,
  };
}

/** The first language that the browser asks for and we have. */
function languageOf({ headers }: PageRequest): Locale {
  const asked = (headers["accept-language"] ?? "").slice(0, 200).split(",");
  const names = asked.map((part) => part.split(";")[0]?.trim() ?? "");
  const found = names.flatMap((name) => [name, name.split("-")[0] ?? ""]).find(isLocale);
  return found ?? FALLBACK_LOCALE;
}

/** What people know the sender by; `default` says nothing to anybody. Null where nobody gave a name. */
async function senderOf(tx: Transaction, project: Project, { productName }: SpecialProperties): Promise<string | null> {
  const { senderName } = await readSettings(tx, project);
  return senderName ?? productName ?? (project.name === "default" ? null : project.name);
}

function createLeavingHandler(options: PagesOptions): Handler {
  const { store } = options;
  const find = (token: string, host: string): Promise<LeavingView | null> =>
    store.read(async (tx) => {
      const link = TOKEN.test(token) ? await findUnsubscribeLink(tx, token) : null;
      if (link === null) return null;
      const special = readSpecialProperties(link.properties);
      const sender = await senderOf(tx, link.project, special);
      return { locale: special.locale, sender: sender ?? host, action: "" };
    });
  const change = async (token: string, rest: string): Promise<(view: LeavingView) => HtmlPage> => {
    if (rest !== "undo") {
      await store.write((tx) => unsubscribeByLink(tx, token));
      return (view) => leftPage(view, true);
    }
    const isBack = await store.write((tx) => resubscribeByLink(tx, token));
    return (view) => (isBack ? returnedPage(view) : leftPage(view, false));
  };
  return async (request, token, rest) => {
    const { isSecure, base, host } = wayOf(options, request);
    const { method } = request;
    const found = rest === "" || rest === "undo" ? await find(token, host) : null;
    if (found === null) return respond(unknownLink(languageOf(request)), request, isSecure);
    const view = { ...found, action: `${base}/u/${token}` };
    // A mail program's one click comes in any form, with or without a body, and is never turned away.
    if (method === "POST") return respond((await change(token, rest))(view), request, isSecure);
    if (method === "GET" || method === "HEAD") return respond(leavingPage(view), request, isSecure);
    return notAllowed(request, isSecure);
  };
}
