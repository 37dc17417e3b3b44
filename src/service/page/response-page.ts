/** `/r/<token>`: one response, for those with the project's key or a signed link. */
import type { HttpResponse } from "../../contract/http.ts";
import type { SurveyResponse } from "../../contract/resources.ts";
import { isSignedLink } from "../domain/surveys/signed-links.ts";
import { NO_BRAND, type HtmlPage, unknownLink } from "./document.ts";
import { type Html, html } from "../../contract/text/html.ts";
import {
  isToken,
  languageOf,
  notAllowed,
  type PageHandler,
  type PageRequest,
  type PagesOptions,
  respond,
  respondUnknown,
  pageWay,
} from "./page-request.ts";

const CHALLENGE = 'Basic realm="surveyctl", charset="UTF-8"';

/** Without a key of its project or a good signature a response that exists looks like one that does not. */
export function createResponseHandler(options: PagesOptions): PageHandler {
  return async (request, token, rest) => {
    const { isSecure } = pageWay(options, request);
    if (request.method !== "GET" && request.method !== "HEAD")
      return notAllowed(request, isSecure, "GET, HEAD, OPTIONS");
    if (rest !== "" || !isToken(token)) return respondUnknown(options, request);
    const query = new URLSearchParams(request.query);
    const [expires, signature] = [query.get("expires") ?? "", query.get("signature") ?? ""];
    const { authorization } = request.headers;
    if (signature === "" && authorization === undefined) return askForKey(request, isSecure);
    const project = authorization === undefined ? null : await options.identify(authorization, request.from);
    if (authorization !== undefined && signature === "" && project === null) return askForKey(request, isSecure);
    const response = await options.store.read(async (tx) => {
      const found = await tx.responses.byToken(token);
      if (found === null) return null;
      const isOpen =
        project?.id === found.project.id ||
        (signature !== "" && (await isSignedLink(tx, token, { expires, signature })));
      const shape = { expandPerson: true, expandNotes: true, permalinkPrefix: "" };
      const text = isOpen ? await tx.responses.json(found.project.id, found.id, shape) : null;
      return text === null ? null : (JSON.parse(text) as SurveyResponse);
    });
    if (response === null) return respondUnknown(options, request);
    return respond(responsePage(response), request, isSecure);
  };
}

/** The same for every token: a browser asks for the key as the user name. */
function askForKey(request: PageRequest, isSecure: boolean): HttpResponse {
  const page = respond({ ...unknownLink(languageOf(request)), status: 401 }, request, isSecure);
  return { ...page, headers: { ...page.headers, "www-authenticate": CHALLENGE } };
}

/** For colleagues, so in English, whatever the survey's language was. */
function responsePage(response: SurveyResponse): HtmlPage {
  const { score, comment, person, person_properties: properties, created_at, updated_at, tags, notes } = response;
  const who = typeof person === "object" ? person : null;
  const name = who?.name ?? who?.email ?? who?.phone_number ?? "Anonymous";
  const facts: readonly (readonly [string, string | null])[] = [
    ["Email", who?.email ?? null],
    ["Phone", who?.phone_number ?? null],
    ["Answered", formatTime(created_at)],
    ["Changed", updated_at === null || updated_at === created_at ? null : formatTime(updated_at)],
    ["Tags", tags.join(", ")],
    ...Object.entries(properties ?? {}).map(([key, value]) => [key, formatValue(value)] as const),
    ...notes.map((note) => ["Note", typeof note === "object" ? note.text : null] as const),
  ];
  const title = `${name}: ${score} of 10`;
  return {
    status: 200,
    locale: "en",
    brand: NO_BRAND,
    title,
    body: html`<h1 dir="auto">${name}: <b class="given">${score}</b> of 10</h1>
      ${comment === null ? html`<p class="soft">No comment</p>` : html`<blockquote dir="auto">${comment}</blockquote>`}
      <dl>${facts.flatMap(([term, value]) => (value === null || value === "" ? [] : [row(term, value)]))}</dl>`,
  };
}

function row(term: string, value: string): Html {
  return html`<dt dir="auto">${term}</dt>
    <dd dir="auto">${value}</dd> `;
}

function formatTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function formatValue(value: unknown): string | null {
  return typeof value === "string" ? value : value === null ? null : JSON.stringify(value);
}
