import type { Locale } from "../../contract/locales.ts";
import { fillText, surveyTexts } from "../domain/texts/survey-texts.ts";
import { type Html, html } from "../../contract/text/html.ts";
import type { HtmlPage, PageBrand } from "./document.ts";

export interface LeavingView {
  readonly locale: Locale;
  readonly brand: PageBrand;
  readonly sender: string;
  readonly address: string | null;
  readonly action: string;
  readonly isDigest?: boolean;
  readonly isSms?: boolean;
}

/** Digests are in English. */
const DIGEST = {
  unsubscribe: "Weekly digest",
  unsubscribeAsk: "Stop the weekly digest from {sender}?",
  unsubscribed: "You will get no more digests from {sender}.",
  undo: "Keep sending me the digest",
  resubscribed: "You get the weekly digest again.",
} as const;

function leavingTexts({ locale, isDigest = false, isSms = false }: LeavingView) {
  const texts = surveyTexts(locale);
  if (!isSms) return isDigest ? { ...texts, ...DIGEST } : texts;
  // Keeps only the first sentence, because the second says how to resubscribe by text message, which not every sender
  // can receive.
  const [stopped] = new Intl.Segmenter(locale, { granularity: "sentence" }).segment(texts.smsStopped);
  return { ...texts, unsubscribeAsk: texts.whyYouGetThis, unsubscribed: (stopped?.segment ?? "").trim() };
}

export function leavingPage(view: LeavingView): HtmlPage {
  const texts = leavingTexts(view);
  const ask = fillText(texts.unsubscribeAsk, { sender: view.sender });
  const action = html`<p>${ask}</p>
    ${button(view.action, texts.unsubscribeButton, "")}`;
  return page(view, texts.unsubscribe, action);
}

export function leftPage(view: LeavingView, mayReturn: boolean): HtmlPage {
  const texts = leavingTexts(view);
  const undo = mayReturn ? button(`${view.action}/undo`, texts.undo, "quiet") : null;
  return page(view, fillText(texts.unsubscribed, { sender: view.sender }), undo);
}

export function returnedPage(view: LeavingView): HtmlPage {
  const texts = leavingTexts(view);
  return page(view, texts.resubscribed, button(view.action, texts.unsubscribeButton, "quiet"));
}

function page({ locale, brand, address }: LeavingView, title: string, content: Html | null): HtmlPage {
  const whose = address === null ? null : html`<p class="soft"><bdi>${address}</bdi></p> `;
  return {
    status: 200,
    locale,
    brand,
    title,
    body: html`<h1>${title}</h1>
      ${whose}${content}`,
  };
}

function button(action: string, label: string, kind: "" | "quiet"): Html {
  const quiet = kind === "" ? null : html` class="${kind}"`;
  return html`<form method="post" action="${action}"><button${quiet}>${label}</button></form>`;
}
