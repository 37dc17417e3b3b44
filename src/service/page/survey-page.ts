import { SCORE_MAX, SCORE_MIN } from "../../contract/limits.ts";
import type { Locale } from "../../contract/locales.ts";
import { isWebAddress } from "../domain/projects/texts.ts";
import type { SurveyWords } from "../domain/surveys/survey-words.ts";
import { fillText, surveyQuestion, surveyTexts } from "../domain/texts/survey-texts.ts";
import { type HtmlPage, noticePage, type PageBrand, problemSummary } from "./document.ts";
import { type Html, html } from "../../contract/text/html.ts";

export interface SurveyView {
  readonly brand: PageBrand;
  readonly words: SurveyWords;
  readonly action: string;
  /** A form field that identifies a visitor's answer to a public link. It isn't in any URL. */
  readonly visit?: string;
  /** The unsubscribe link, which text messages have no room for. */
  readonly leaveUrl?: string | null;
}

export interface FormView extends SurveyView {
  readonly score: number | null;
  /** The score came with the link and isn't stored yet. */
  readonly isChosenByLink?: boolean;
  readonly comment: string;
  readonly problem: Problem | null;
  /** The page's script may send the answer at the first tap, click or Enter. */
  readonly hasScript?: boolean;
}

/** `busy`: nothing is wrong with the form; it can be sent again later. */
type Problem =
  | { readonly kind: "score" }
  | { readonly kind: "busy" }
  | { readonly kind: "comment"; readonly max: number };

export interface StoredAnswer {
  readonly score: number;
  readonly comment: string | null;
  readonly further?: Html | null;
}

const SCORES = Array.from({ length: SCORE_MAX + 1 }, (_, score) => score);

export function formPage(view: FormView): HtmlPage {
  const { brand, words, problem } = view;
  const { locale } = words;
  const texts = surveyTexts(locale);
  const question = surveyQuestion(texts, words);
  const summary = problem === null ? null : problemSummary(problemText(view), PROBLEM_FIELDS[problem.kind]);
  return {
    status: problem === null ? 200 : problem.kind === "busy" ? 429 : 422,
    locale,
    brand,
    title: problem === null ? question : `${texts.errorTitle} ${question}`,
    body: html`${summary}${form(view, html`<h1>${question}</h1>`)}${leaveLink(view)}`,
    script: view.hasScript === true && view.score !== null ? ANSWER_AT_A_GESTURE : null,
  };
}

/**
 * Submits the form on the first tap, click or Enter, so that one click in an email is enough to answer. Link scanners
 * open pages in real browsers, scroll and wait, but don't tap or click. So nothing is sent before the page has been
 * visible for a second and a trusted event arrives; scrolling doesn't count, because it ends in `pointercancel`. The
 * form is read 300 ms later, so changing 9 to 3 sends only 3.
 */
const ANSWER_AT_A_GESTURE =
  `{let f=document.forms[0],o=document.querySelector("output"),s=()=>document.hidden?0:performance.now(),v=s(),l,t;` +
  `let g=e=>{if(e.isTrusted&&!e.button&&(!e.key||e.key=="Enter")&&v&&performance.now()-v>999){clearTimeout(t);t=setTimeout(()=>{let b=new URLSearchParams(new FormData(f)),n=b.get("score");` +
  `b.set("by","script");if(n&&b+""!=l){l=b+"";fetch(f.action,{method:"POST",body:b}).then(r=>r.status==204,()=>!1).then(d=>{d?f.comment.oninput=g:l=0;` +
  `o.textContent=o.dataset[d?"saved":"unsaved"].replace("{score}",n);o.className=d?"done":""})}},300)}};` +
  `document.onvisibilitychange=()=>v=s();onpointerup=onkeydown=g}`;

export function thanksPage(view: SurveyView, answer: StoredAnswer, mayChange: boolean): HtmlPage {
  const { brand, words } = view;
  const { locale } = words;
  const texts = surveyTexts(locale);
  const thanks = words.thankYouMessage ?? texts.thanksDetail;
  const question = surveyQuestion(texts, words);
  const comment = answer.comment === null ? null : html`<blockquote dir="auto">${answer.comment}</blockquote> `;
  const changing: FormView = { ...view, score: answer.score, comment: answer.comment ?? "", problem: null };
  const given = answered(texts.youAnswered, answer.score);
  const stored = mayChange
    ? html`<details>
        <summary>${given} · <span class="link">${texts.change}</span></summary>
        ${form(changing, html`<strong>${question}</strong>`)}
      </details> `
    : html`<p>${given}</p> `;
  return {
    status: 200,
    locale,
    brand,
    title: texts.thanks,
    body: html`<h1>${texts.thanks}</h1>
      <p class="said" dir="auto">${thanks}</p>
      ${thankYouLink(words)}
      <div class="stored">${stored}${comment}${answer.further ?? null}${leaveLink(view)}</div>`,
  };
}

function leaveLink({ words, leaveUrl = null }: SurveyView): Html | null {
  return leaveUrl === null
    ? null
    : html`<p class="soft"><a href="${leaveUrl}">${surveyTexts(words.locale).unsubscribe}</a></p>`;
}

function answered(text: string, score: number): Html {
  const [before = "", after = ""] = text.split("{score}");
  return html`${before}<b class="given">${score}</b>${after}`;
}

function thankYouLink({ thankYouLinkText, thankYouLinkUrl }: SurveyWords): Html | null {
  if (thankYouLinkUrl === null || !isWebAddress(thankYouLinkUrl)) return null;
  return html`<p>
    <a class="go" href="${thankYouLinkUrl}" rel="noopener noreferrer">${thankYouLinkText ?? thankYouLinkUrl}</a>
  </p> `;
}

const PROBLEM_FIELDS = { score: "score-0", comment: "comment", busy: null };

function problemText({ words, problem }: FormView): string {
  const texts = surveyTexts(words.locale);
  if (problem === null) return "";
  if (problem.kind === "busy") return texts.errorTooMany;
  return problem.kind === "score" ? texts.errorChooseScore : fillText(texts.errorCommentTooLong, { max: problem.max });
}

function wrong(view: FormView, kind: Problem["kind"]): Html | null {
  return view.problem?.kind === kind ? html`<p class="wrong" id="${kind}-problem">${problemText(view)}</p> ` : null;
}

function invalid(view: FormView, kind: Problem["kind"]): Html | null {
  return view.problem?.kind === kind ? html` aria-invalid="true"` : null;
}

/** The scale's labels are part of the question, so screen readers read them once. */
function form(view: FormView, question: Html): Html {
  const { action, comment, visit, words } = view;
  const texts = surveyTexts(words.locale);
  const described = view.problem?.kind === "score" ? "score-problem ends" : "ends";
  return html`<form method="post" action="${action}" novalidate>
    ${visit === undefined ? null : html`<input type="hidden" name="visit" value="${visit}" />`}
    <fieldset aria-describedby="${described}" ${invalid(view, "score")}>
      <legend>${question}</legend>
      ${wrong(view, "score")}${choice(view)} ${numberScale(SCORES.map((value) => scoreField(view, value)))}
      <p class="ends" id="ends">${scaleEnd(SCORE_MIN, texts.notLikely)}${scaleEnd(SCORE_MAX, texts.veryLikely)}</p>
    </fieldset>
    <p class="comment">
      ${commentLabel(view)}
      <span class="soft" id="comment-hint">${texts.commentHint}</span>
    </p>
    ${wrong(view, "comment")}<textarea
      id="comment"
      name="comment"
      dir="auto"
      rows="4"
      aria-describedby="comment-hint${view.problem?.kind === "comment" ? " comment-problem" : null}"
      ${invalid(view, "comment")}
    >
${comment}</textarea>
    <button>${texts.send}</button>
  </form>`;
}

/** A custom question may be in a different language from the page. */
function commentLabel({ words: { locale, commentQuestion } }: FormView): Html {
  if (commentQuestion === null) return html`<label for="comment">${surveyTexts(locale).commentLabel}</label>`;
  return html`<label for="comment" dir="auto">${commentQuestion}</label>`;
}

/** Two rows on narrow screens, so that each number is wide enough to tap. */
export function numberScale(cells: readonly Html[]): Html {
  const first = cells.length > ROW_MAX ? Math.ceil(cells.length / 2) : cells.length;
  const rows = [cells.slice(0, first), cells.slice(first)].filter((row) => row.length > 0);
  return html`<div class="scale">${rows.map((row) => html`<div>${row}</div> `)}</div> `;
}

const ROW_MAX = 6;

/** The script updates this element once the answer is stored or the request has failed. */
function choice({ words, score, isChosenByLink = false }: FormView): Html | null {
  if (!isChosenByLink || score === null) return null;
  const texts = surveyTexts(words.locale);
  const chosen = fillText(texts.youChose, { score });
  return html`<output data-saved="${texts.recordedAddComment}" data-unsaved="${texts.youChose}">${chosen}</output> `;
}

/** Below a single row, only screen readers get the number, because it is visible right above. */
function scaleEnd(score: number, text: string): Html {
  return html`<span><span class="heard">${score} – </span>${text}</span> `;
}

function scoreField({ score, problem }: FormView, value: number): Html {
  const checked = value === score ? html` checked` : null;
  const isWrong = problem?.kind === "score" ? html` aria-invalid="true"` : null;
  return html`<label
    ><input type="radio" name="score" id="score-${value}" value="${value}" ${checked}${isWrong} /><span
      >${value}</span
    ></label
  > `;
}

export function endedPage(locale: Locale, brand: PageBrand): HtmlPage {
  const { linkExpired, linkExpiredDetail } = surveyTexts(locale);
  return noticePage({ status: 410, locale, brand, title: linkExpired }, linkExpiredDetail);
}
