import { Readable } from "node:stream";
import type { HttpResponse, PathRequest } from "../../contract/http.ts";
import { FALLBACK_LOCALE } from "../../contract/locales.ts";
import { html } from "../../contract/text/html.ts";
import { readLogo } from "../domain/projects/brand.ts";
import { AnswerPages } from "./answer-pages.ts";
import { pageHeaders, pageResponse, stayingWithHttps } from "./document.ts";
import { handleLeaving } from "./leaving-page.ts";
import { handleLink } from "./link-page.ts";
import { byMethod, isToken, type PagesOptions, respondUnknown } from "./page-request.ts";
import { showPreview } from "./preview-page.ts";
import { showResponse } from "./response-page.ts";

const PATH = /^\/(s|u|l|r|logo)\/([^/]+)(?:\/([^/]*))?$/;
/** Crawlers must fetch a page to see its noindex. */
const ROBOTS: HttpResponse = {
  status: 200,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body: "User-agent: *\nDisallow:\n",
};

export class Pages {
  readonly #options: PagesOptions;
  readonly #answerPages: AnswerPages;

  constructor(given: Omit<PagesOptions, "base">) {
    const path = given.publicUrl === null ? "/" : new URL(given.publicUrl).pathname;
    this.#options = { ...given, base: path === "/" ? "" : path };
    this.#answerPages = new AnswerPages(this.#options);
  }

  handle(request: PathRequest): Promise<HttpResponse> | null {
    const { publicUrl } = this.#options;
    const url = publicUrl ?? request.origin;
    return this.#find(request)?.then((response) => stayingWithHttps(response, url)) ?? null;
  }

  #find(request: PathRequest): Promise<HttpResponse> | null {
    const options = this.#options;
    if (request.path === "/robots.txt") return Promise.resolve(ROBOTS);
    if (request.path === "/") return byMethod(request, () => showRoot(options));
    const [, kind, token = "", rest = ""] = PATH.exec(request.path) ?? [];
    switch (kind) {
      case "s":
        return this.#answerPages.handle(request, token, rest);
      case "u":
        return handleLeaving(options, request, token, rest);
      case "l":
        return handleLink(options, request, token, rest);
      case "r":
        return byMethod(request, () => showResponse(options, request, token, rest));
      case "logo":
        return byMethod(request, () => showLogo(options, request, token, rest));
      default:
        return null;
    }
  }
}

/** For people who open only the host of a link: shows the sender's name. */
async function showRoot(options: PagesOptions): Promise<HttpResponse> {
  const { brand } = await options.store.read((tx) => showPreview(tx, options));
  const title = brand.name ?? "Surveys";
  const shown = { ...brand, name: null, logo: null };
  const body = html`<h1 dir="auto">${title}</h1>`;
  return pageResponse({ status: 200, locale: FALLBACK_LOCALE, brand: shown, title, body });
}

/** Keeps scripts in an SVG logo from running if someone opens it directly. */
const LOGO_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  "cache-control": "public, max-age=86400, immutable",
};

async function showLogo(options: PagesOptions, request: PathRequest, id: string, rest: string): Promise<HttpResponse> {
  const logo = isToken(id) && rest === "" ? await options.store.read((tx) => readLogo(tx, id)) : null;
  if (logo === null) return respondUnknown(options, request);
  const headers = { ...pageHeaders(), ...LOGO_HEADERS, "content-type": logo.type };
  return { status: 200, headers, body: Readable.from([logo.bytes]) };
}
