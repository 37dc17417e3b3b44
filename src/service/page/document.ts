import { createHash } from "node:crypto";
import type { HttpResponse } from "../../contract/http.ts";
import type { Locale } from "../../contract/locales.ts";
import { type Brand, NO_BRAND } from "../domain/projects/brand.ts";
import { surveyTexts, textDirection } from "../domain/texts/survey-texts.ts";
import { Html, html } from "../../contract/text/html.ts";
import { STYLE } from "./style.ts";

export interface PageBrand extends Pick<Brand, "name" | "accent"> {
  readonly logo: string | null;
}

export interface HtmlPage {
  readonly status: number;
  readonly locale: Locale;
  readonly title: string;
  readonly brand: PageBrand;
  readonly body: Html;
  readonly script?: string | null;
}

export function pageResponse(page: HtmlPage): HttpResponse {
  const headers = { ...pageHeaders(page), "content-type": "text/html; charset=utf-8" };
  return { status: page.status, headers, body: document(page) };
}

/** Without a host, the redirect works behind any proxy. */
export function seeOther(path: string): HttpResponse {
  return { status: 303, headers: { ...pageHeaders(), location: path }, body: "" };
}

function document({ locale, title, brand, body, script = null }: HtmlPage): string {
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

function accentStyle({ accent }: PageBrand): string {
  if (accent === null) return "";
  const { color, ink, link } = accent;
  return `
:root{--accent:${color};--on-accent:${ink};--link:${link.light}}
@media (prefers-color-scheme:dark){:root{--link:${link.dark}}}`;
}

/** No surrounding whitespace, because the policy contains the hash of the content. */
function element(name: "style" | "script", text: string): Html {
  return new Html(`<${name}>${text}</${name}>`);
}

/** Allows no cookies, other origins, caching or framing, and sends no referrer to linked sites. */
export function pageHeaders({ brand = NO_BRAND, script = null }: Partial<HtmlPage> = {}): Readonly<
  Record<string, string>
> {
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
  };
}

/** Adds HSTS, so that browsers that reached the service over https keep using it. */
export function stayingWithHttps(response: HttpResponse, url: string): HttpResponse {
  if (!url.startsWith("https:")) return response;
  return { ...response, headers: { ...response.headers, "strict-transport-security": "max-age=31536000" } };
}

export function sourceHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

export function noticePage(page: Omit<HtmlPage, "body">, detail: string): HtmlPage {
  const body = html`<h1>${page.title}</h1>
    <p>${detail}</p>`;
  return { ...page, body };
}

export function unknownLink(locale: Locale): HtmlPage {
  const { linkUnknown, linkUnknownDetail } = surveyTexts(locale);
  return noticePage({ status: 404, locale, brand: NO_BRAND, title: linkUnknown }, linkUnknownDetail);
}

/** The browser focuses it when the page loads. `field` is the id of the field to correct. */
export function problemSummary(text: string, field: string | null): Html {
  return html`<div class="problem" role="alert" tabindex="-1" autofocus>
    <p>${field === null ? text : html`<a href="#${field}">${text}</a>`}</p>
  </div> `;
}
