/** `/r/<token>`: one response, for holders of the project's key or a signed link. */
import type { HttpResponse, PathRequest } from "../../contract/http.ts";
import { FALLBACK_LOCALE } from "../../contract/locales.ts";
import { answerText, plainAnswers } from "../../contract/questions/additional-answers.ts";
import type { SurveyResponse } from "../../contract/resources.ts";
import { SPECIAL_PROPERTIES } from "../../contract/special-properties.ts";
import { createWallClock, DEFAULT_ZONE } from "../../runtime/zone.ts";
import { isSignedLink, readLinkSignature } from "../domain/signed-links.ts";
import { type HtmlPage, type PageBrand, pageResponse } from "./document.ts";
import { type Html, html } from "../../contract/text/html.ts";
import { isToken, type PagesOptions, respondUnknown, showProject } from "./page-request.ts";
import { showPreview } from "./preview-page.ts";

/** Without a key or signature, an existing response looks like a missing one. */
export async function showResponse(
  options: PagesOptions,
  request: PathRequest,
  token: string,
  rest: string,
): Promise<HttpResponse> {
  if (rest !== "" || !isToken(token)) return respondUnknown(options, request);
  const { expires, signature } = readLinkSignature(request.query);
  const { authorization } = request.headers;
  const project = authorization === undefined ? null : await options.findProject(authorization, request.from);
  if (signature === "" && project === null) return askForKey(options);
  const found = await options.store.read(async (tx) => {
    const known = await tx.responses.byToken(token);
    if (known === null) return null;
    const isOpen =
      project?.id === known.project.id ||
      (signature !== "" && (await isSignedLink(tx, `/r/${token}`, { expires, signature })));
    const shape = { expandPerson: true, expandNotes: true, permalinkPrefix: "" };
    const text = isOpen ? await tx.responses.json(known.project.id, known.id, shape) : null;
    if (text === null) return null;
    return { text, ...(await showProject(tx, options, known.project)) };
  });
  if (found === null) return respondUnknown(options, request);
  const response = JSON.parse(found.text) as SurveyResponse;
  const zone = found.presentation.settings.timeZone ?? DEFAULT_ZONE;
  return pageResponse(responsePage(response, found.brand, zone));
}

/** Responds with 403, because after a 401 challenge a browser would ask for a name and password, which no one has. */
async function askForKey(options: PagesOptions): Promise<HttpResponse> {
  const { brand } = await options.store.read((tx) => showPreview(tx, options));
  const title = "No access";
  const body = html`<h1>${title}</h1>
    <p>This page needs a key, or a link from <code>surveyctl responses link</code>.</p>`;
  return pageResponse({ status: 403, locale: FALLBACK_LOCALE, brand, title, body });
}

const SPECIAL_KEYS: ReadonlySet<string> = new Set(
  SPECIAL_PROPERTIES.flatMap(({ key, olderName }) => (olderName === undefined ? [key] : [key, olderName])),
);

type Fact = readonly [term: string, value: string | null];

function responsePage(response: SurveyResponse, brand: PageBrand, zone: string): HtmlPage {
  const { score, comment, person, person_properties: properties, created_at, updated_at, tags, notes } = response;
  const who = typeof person === "object" ? person : null;
  const name = who?.name ?? who?.email ?? who?.phone_number ?? "Anonymous";
  const own = Object.entries(properties ?? {}).filter(([key]) => !SPECIAL_KEYS.has(key));
  const facts: readonly Fact[] = [
    ["Email", who?.email ?? null],
    ["Phone", who?.phone_number ?? null],
    ["Answered", formatTime(created_at, zone)],
    ["Changed", updated_at === null || updated_at === created_at ? null : formatTime(updated_at, zone)],
    ["Tags", tags.join(", ")],
    ...plainAnswers(response).map((answer): Fact => [answer.question, answerText(answer)]),
    ...own.map(([key, value]): Fact => [key, formatValue(value)]),
    ...notes
      .filter((note) => typeof note === "object")
      .map((note): Fact => [`Note by ${note.user_email}, ${formatTime(note.created_at, zone)}`, note.text]),
  ];
  const title = `${name}: ${score} of 10`;
  return {
    status: 200,
    locale: "en",
    brand,
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

function formatTime(seconds: number, zone: string): string {
  const wallSeconds = createWallClock(zone)(seconds);
  return `${new Date(wallSeconds * 1000).toISOString().slice(0, 16).replace("T", " ")} ${zone}`;
}

function formatValue(value: unknown): string | null {
  return typeof value === "string" ? value : value === null ? null : JSON.stringify(value);
}
