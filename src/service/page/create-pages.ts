import type { HttpResponse } from "../../contract/http.ts";
import { FALLBACK_LOCALE } from "../../contract/locales.ts";
import { html } from "../../contract/text/html.ts";
import { readLogo } from "../domain/projects/brand.ts";
import { createAnswerHandler } from "./answer-handler.ts";
import { pageHeaders, pageResponse, stayingWithHttps } from "./document.ts";
import { createLeavingHandler } from "./leaving-handler.ts";
import { createLinkHandler } from "./link-handler.ts";
import {
  isToken,
  byMethod,
  type PageHandler,
  type PageRequest,
  type PagesOptions,
  respondUnknown,
} from "./page-request.ts";
import { showPreview } from "./preview-page.ts";
import { createResponseHandler } from "./response-page.ts";

export interface Pages {
  /** Null for a path that isn't a page. */
  readonly handle: (request: PageRequest) => Promise<HttpResponse> | null;
}

const PATH = /^\/(s|u|l|r|logo)\/([^/]+)(?:\/([^/]*))?$/;
/** Crawlers must fetch a page to see its noindex. */
const ROBOTS: HttpResponse = {
  status: 200,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body: "User-agent: *\nDisallow:\n",
};

export function createPages(given: Omit<PagesOptions, "base">): Pages {
  const { publicUrl } = given;
  const path = publicUrl === null ? "/" : new URL(publicUrl).pathname;
  const options = { ...given, base: path === "/" ? "" : path };
  const handlers: Readonly<Record<string, PageHandler>> = {
    s: createAnswerHandler(options),
    u: createLeavingHandler(options),
    l: createLinkHandler(options),
    r: createResponseHandler(options),
    logo: createLogoHandler(options),
  };
  const showRoot = createRootHandler(options);
  const answer = (request: PageRequest): Promise<HttpResponse> | null => {
    if (request.path === "/robots.txt") return Promise.resolve(ROBOTS);
    if (request.path === "/") return showRoot(request, "", "");
    const [, kind = "", token = "", rest = ""] = PATH.exec(request.path) ?? [];
    return handlers[kind]?.(request, token, rest) ?? null;
  };
  const finish = (response: HttpResponse, { method, origin }: PageRequest): HttpResponse => {
    const sent = method === "HEAD" ? { ...response, body: "" } : response;
    return stayingWithHttps(sent, publicUrl ?? origin);
  };
  return { handle: (request) => answer(request)?.then((response) => finish(response, request)) ?? null };
}

/** For people who open a link's host: shows the sender's name. */
function createRootHandler(options: PagesOptions): PageHandler {
  const show: PageHandler = async () => {
    const { brand } = await options.store.read((tx) => showPreview(tx, options));
    const title = brand.name ?? "Surveys";
    const shown = { ...brand, name: null, logo: null };
    const body = html`<h1 dir="auto">${title}</h1>`;
    return pageResponse({ status: 200, locale: FALLBACK_LOCALE, brand: shown, title, body });
  };
  return byMethod({ show });
}

/** Keeps an SVG that is opened directly from running anything. */
const LOGO_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  "cache-control": "public, max-age=86400, immutable",
};

function createLogoHandler(options: PagesOptions): PageHandler {
  const show: PageHandler = async (request, id, rest) => {
    const logo = isToken(id) && rest === "" ? await options.store.read((tx) => readLogo(tx, id)) : null;
    if (logo === null) return respondUnknown(options, request);
    const headers = { ...pageHeaders(), ...LOGO_HEADERS, "content-type": logo.type };
    return { status: 200, headers, body: bytesOf(logo.bytes) };
  };
  return byMethod({ show });
}

async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
