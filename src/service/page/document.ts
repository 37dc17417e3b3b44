/** The frame of every page, and the headers that keep it to itself. */
import { createHash } from "node:crypto";
import type { HttpResponse } from "../../contract/http.ts";
import type { Locale } from "../../contract/locales.ts";
import { surveyTexts, textDirection } from "../domain/texts/survey-texts.ts";
import { Html, html } from "../../contract/html.ts";
import { STYLE } from "./style.ts";

export interface Page {
  readonly status: number;
  readonly locale: Locale;
  readonly title: string;
  /** Whose survey it is; null shows nobody. */
  readonly sender: string | null;
  readonly body: Html;
  /** The page works without it; null leaves it out. */
  readonly script?: string | null;
}

/** A whole answer. `isSecure`: browsers reach the service by https. */
export function pageResponse(page: Page, isSecure: boolean): HttpResponse {
  const script = page.script ?? null;
  return {
    status: page.status,
    headers: { ...pageHeaders(script, isSecure), "content-type": "text/html; charset=utf-8" },
    body: document(page, script),
  };
}

/** To another page of ours; `path` has no host, so that it holds behind any proxy. */
export function seeOther(path: string, isSecure: boolean): HttpResponse {
  return { status: 303, headers: { ...pageHeaders(null, isSecure), location: path }, body: "" };
}

function document({ locale, title, sender, body }: Page, script: string | null): string {
  return html`<!doctype html>
    <html lang="${locale}" dir="${textDirection(locale)}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${new Html(STYLE)}
        </style>
      </head>
      <body>
        <main>${sender === null ? null : html`<p class="brand">${sender}</p> `}${body}</main>
        ${
          script === null
            ? null
            : html`<script>
                ${new Html(script)};
              </script> `
        }
      </body>
    </html> `.text;
}

/** No cookie, no other origin, nothing kept, nothing framed, and no address of ours told to those that links lead to. */
export function pageHeaders(script: string | null, isSecure: boolean): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `style-src ${sourceHash(STYLE)}`,
    "img-src 'self'",
    ...(script === null ? [] : [`script-src ${sourceHash(script)}`, "connect-src 'self'"]),
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    "content-security-policy": policy.join("; "),
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex, nofollow",
    "cross-origin-opener-policy": "same-origin",
    ...(isSecure ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
}

const hashes = new Map<string, string>();

/** The texts are few and never change while the service runs. */
function sourceHash(text: string): string {
  const known = hashes.get(text);
  if (known !== undefined) return known;
  const hash = `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  hashes.set(text, hash);
  return hash;
}

/** A page that says one thing. */
export function notice(locale: Locale, status: number, title: string, detail: string): Page {
  return {
    status,
    locale,
    title,
    sender: null,
    body: html`<h1>${title}</h1>
      <p>${detail}</p>`,
  };
}

/** Links that were never given out, that were erased, or are cut off: one page for all, which tells nothing. */
export function unknownLink(locale: Locale): Page {
  const { linkUnknown, linkUnknownDetail } = surveyTexts(locale);
  return notice(locale, 404, linkUnknown, linkUnknownDetail);
}
