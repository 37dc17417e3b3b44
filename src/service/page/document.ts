/** The frame of every page, and the headers that keep it to itself. */
import { createHash } from "node:crypto";
import type { HttpResponse } from "../../contract/http.ts";
import type { Locale } from "../../contract/locales.ts";
import { type Brand, NO_BRAND } from "../domain/projects/brand.ts";
import { surveyTexts, textDirection } from "../domain/texts/survey-texts.ts";
import { Html, html } from "../../contract/text/html.ts";
import { STYLE } from "./style.ts";

/** The brand of the sender; null where nothing was chosen. */
export interface PageBrand extends Pick<Brand, "name" | "accent"> {
  readonly logo: string | null;
}

export interface HtmlPage {
  readonly status: number;
  readonly locale: Locale;
  readonly title: string;
  readonly brand: PageBrand;
  readonly body: Html;
  /** The page works without it; null leaves it out. */
  readonly script?: string | null;
}

/** A whole answer. `isSecure`: browsers reach the service by https. */
export function pageResponse(page: HtmlPage, isSecure: boolean): HttpResponse {
  const script = page.script ?? null;
  return {
    status: page.status,
    headers: { ...pageHeaders(isSecure, page), "content-type": "text/html; charset=utf-8" },
    body: document(page, script),
  };
}

/** To another page of ours; `path` has no host, so that it holds behind any proxy. */
export function seeOther(path: string, isSecure: boolean): HttpResponse {
  return { status: 303, headers: { ...pageHeaders(isSecure), location: path }, body: "" };
}

function document({ locale, title, brand, body }: HtmlPage, script: string | null): string {
  return html`<!doctype html>
    <html lang="${locale}" dir="${textDirection(locale)}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${element("style", STYLE + accentStyle(brand))}
      </head>
      <body>
        <main>${heading(brand)}${body}</main>
        ${script === null ? null : element("script", script)}
      </body>
    </html> `.text;
}

function heading({ name, logo }: PageBrand): Html | null {
  if (logo !== null) return html`<p class="brand"><img src="${logo}" alt="${name ?? ""}" /></p> `;
  return name === null ? null : html`<p class="brand">${name}</p> `;
}

/** The accent fills; links have a tone of it that can be read on the page's own ground. */
function accentStyle({ accent }: PageBrand): string {
  if (accent === null) return "";
  const { color, ink, link } = accent;
  return `
:root{--accent:${color};--on-accent:${ink};--link:${link.light}}
@media (prefers-color-scheme:dark){:root{--link:${link.dark}}}`;
}

/** With nothing around the text: the policy names the hash of all that the element holds. */
function element(name: "style" | "script", text: string): Html {
  return new Html(`<${name}>${text}</${name}>`);
}

/**
 * No cookie, no other origin, nothing kept, nothing framed, and no address of ours told to those that links lead to.
 */
export function pageHeaders(
  isSecure: boolean,
  { brand = NO_BRAND, script = null }: Partial<HtmlPage> = {},
): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `style-src ${sourceHash(STYLE + accentStyle(brand))}`,
    ...(brand.logo === null ? [] : ["img-src 'self'"]),
    ...(script === null ? [] : [`script-src ${sourceHash(script)}`, "connect-src 'self'"]),
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    "content-security-policy": policy.join("; "),
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex, nofollow",
    "cross-origin-opener-policy": "same-origin",
    ...(isSecure ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
}

const HASHES_MAX = 1000;
const hashes = new Map<string, string>();

/** The texts are few: one for each accent. */
function sourceHash(text: string): string {
  const known = hashes.get(text);
  if (known !== undefined) return known;
  if (hashes.size > HASHES_MAX) hashes.clear();
  const hash = `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  hashes.set(text, hash);
  return hash;
}

function notice(locale: Locale, status: number, title: string, detail: string): HtmlPage {
  return {
    status,
    locale,
    title,
    brand: NO_BRAND,
    body: html`<h1>${title}</h1>
      <p>${detail}</p>`,
  };
}

/** Links that were never given out, that were erased, or are cut off: one page for all, which tells nothing. */
export function unknownLink(locale: Locale): HtmlPage {
  const { linkUnknown, linkUnknownDetail } = surveyTexts(locale);
  return notice(locale, 404, linkUnknown, linkUnknownDetail);
}

/** First on the page and in the order of focus. `field` is the id of the one to correct; null for none. */
export function problemSummary(text: string, field: string | null): Html {
  return html`<div class="problem" role="alert" tabindex="-1" autofocus>
    <p>${field === null ? text : html`<a href="#${field}">${text}</a>`}</p>
  </div> `;
}
