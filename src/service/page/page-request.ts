import type { HttpResponse, PathRequest } from "../../contract/http.ts";
import { effectiveLocale, FALLBACK_LOCALE, type Locale, preferredLocale } from "../../contract/locales.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Random } from "../../runtime/random.ts";
import type { Properties } from "../../contract/resources.ts";
import type { Project } from "../domain/inputs.ts";
import type { Store, Transaction } from "../domain/ports.ts";
import { type Presentation, readPresentation, shownName } from "../domain/projects/presentation.ts";
import { readSurveyWords } from "../domain/surveys/survey-words.ts";
import { type PageBrand, pageHeaders, pageResponse, unknownLink } from "./document.ts";

export interface PagesOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly publicUrl: string | null;
  readonly base: string;
  readonly answerWindowSeconds: number;
  readonly senderName: string | null;
  readonly unknownLinks: PageLimit;
  readonly addressAnswers: PageLimit;
  readonly linkAnswers: PageLimit;
  /** Per token: changes made with the form's button, and undone unsubscribes. */
  readonly linkChanges: PageLimit;
  /** Changes by the page's script, which sends comments while they are being typed. */
  readonly scriptChanges: PageLimit;
  readonly findProject: (authorization: string, address: string) => Promise<Project | null>;
  readonly onError: (error: unknown) => void;
}

interface PageLimit {
  count(caller: string): number;
}

export function isToken(text: string): boolean {
  return /^[\w-]{16,64}$/.test(text);
}

/** The language of `preview` or `preview-de`; null for other tokens. */
export function previewLocale(token: string, query: string): Locale | null {
  const match = /^preview(?:-([\w-]{2,10}))?$/.exec(token);
  if (match === null) return null;
  return effectiveLocale(match[1] ?? new URLSearchParams(query).get("locale"));
}

export async function byMethod(
  request: PathRequest,
  show: () => Promise<HttpResponse>,
  answer?: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  if (request.method === "GET" || request.method === "HEAD") return show();
  if (request.method === "POST" && answer !== undefined) return answer();
  const status = request.method === "OPTIONS" ? 204 : 405;
  const allow = answer === undefined ? "GET, HEAD, OPTIONS" : "GET, HEAD, POST, OPTIONS";
  return { status, headers: { ...pageHeaders(), allow }, body: "" };
}

/** Responds the same way to every unknown link. Addresses that try many links are slowed down. */
export function respondUnknown(options: PagesOptions, request: PathRequest): HttpResponse {
  return askToWait(pageResponse(unknownLink(readLanguage(request))), options.unknownLinks.count(request.from));
}

export function askToWait(page: HttpResponse, seconds: number): HttpResponse {
  if (seconds === 0) return page;
  return { ...page, status: 429, headers: { ...page.headers, "retry-after": String(seconds) } };
}

export function readLanguage({ headers }: PathRequest): Locale {
  return preferredLocale((headers["accept-language"] ?? "").slice(0, 1000)) ?? FALLBACK_LOCALE;
}

export interface Shown {
  readonly brand: PageBrand;
  readonly presentation: Presentation;
}

/** `properties` are the survey's. If there is no sender name, the page shows the product named in them. */
export async function showProject(
  tx: Transaction,
  { senderName, base }: Pick<PagesOptions, "senderName" | "base">,
  project: Project,
  properties: Properties = {},
): Promise<Shown> {
  const presentation = await readPresentation(tx, project);
  const { productName } = readSurveyWords(properties, presentation);
  const name = shownName(presentation, project, { senderName, productName });
  const { accent, logo } = presentation.brand;
  return { brand: { name, accent, logo: logo === null ? null : `${base}/logo/${logo}` }, presentation };
}
