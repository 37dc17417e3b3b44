/** Leaving, and coming back for those who left by mistake. */
import type { Locale } from "../../contract/locales.ts";
import { fillText, surveyTexts } from "../domain/texts/survey-texts.ts";
import { type Html, html } from "../../contract/text/html.ts";
import type { HtmlPage, PageBrand } from "./document.ts";

export interface LeavingView {
  readonly locale: Locale;
  readonly brand: PageBrand;
  /** The name of the sender in the texts. */
  readonly sender: string;
  readonly action: string;
  /** True when the weekly digest is left, and not surveys. */
  readonly isDigest?: boolean;
}

/** A digest is English, as its mail is. */
const DIGEST = {
  unsubscribeTitle: "Weekly digest",
  unsubscribeAsk: "Stop the weekly digest from {sender}?",
  unsubscribed: "You will get no more digests from {sender}.",
  resubscribed: "You get the weekly digest again.",
} as const;

function wordsOf({ locale, isDigest = false }: LeavingView) {
  return isDigest ? { ...surveyTexts(locale), ...DIGEST } : surveyTexts(locale);
}

/** One button; the page itself changes nothing. */
export function leavingPage(view: LeavingView): HtmlPage {
  const texts = wordsOf(view);
  const ask = fillText(texts.unsubscribeAsk, { sender: view.sender });
  return page(view, texts.unsubscribeTitle, ask, button(view.action, texts.unsubscribeButton, ""));
}

/** `mayUndo`: within the days in which coming back is one click. */
export function leftPage(view: LeavingView, mayUndo: boolean): HtmlPage {
  const texts = wordsOf(view);
  const undo = mayUndo ? button(`${view.action}/undo`, texts.undo, "quiet") : null;
  return page(view, texts.unsubscribeTitle, fillText(texts.unsubscribed, { sender: view.sender }), undo);
}

export function returnedPage(view: LeavingView): HtmlPage {
  const texts = wordsOf(view);
  return page(view, texts.unsubscribeTitle, texts.resubscribed, button(view.action, texts.unsubscribeButton, "quiet"));
}

function page({ locale, brand }: LeavingView, title: string, text: string, action: Html | null): HtmlPage {
  return {
    status: 200,
    locale,
    brand,
    title,
    body: html`<h1>${title}</h1>
      <p>${text}</p>
      ${action}`,
  };
}

function button(action: string, label: string, kind: "" | "quiet"): Html {
  const quiet = kind === "" ? null : html` class="${kind}"`;
  return html`<form method="post" action="${action}"><button${quiet}>${label}</button></form>`;
}
