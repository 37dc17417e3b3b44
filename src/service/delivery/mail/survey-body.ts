/** What the survey's mail shows, as text and as HTML made of tables: mail programs know neither flex nor grid. */
import { SCORE_MAX } from "../../../contract/limits.ts";
import type { SpecialProperties } from "../../domain/special-properties.ts";
import { escapeHtml, multiLine, singleLine } from "../../domain/texts/plain-text.ts";
import { fillText, surveyQuestion, surveyTexts, textDirection } from "../../domain/texts/survey-texts.ts";

export interface BodyContext {
  /** The page of this survey; a score is added as a parameter. */
  readonly surveyUrl: string;
  readonly unsubscribeUrl: string;
  /** Who asks. */
  readonly sender: string;
  readonly footer: string | null;
}

interface Content {
  readonly question: string;
  readonly intro: string;
  readonly footer: string;
  readonly why: string;
  readonly special: SpecialProperties;
  readonly context: BodyContext;
}

const SCORES = Array.from({ length: SCORE_MAX + 1 }, (_, score) => score);

export function surveyBody(
  special: SpecialProperties,
  context: BodyContext,
): { readonly text: string; readonly html: string } {
  const texts = surveyTexts(special.locale);
  const product = singleLine(special.productName ?? "");
  const content: Content = {
    question: surveyQuestion(texts, product === "" ? null : product),
    intro: multiLine(special.introMessage ?? ""),
    footer: multiLine(context.footer ?? ""),
    // A name such as `Acme Inc.` has the sentence's full stop already.
    why: fillText(texts.whyYouGetThis, { sender: context.sender }).replace(/\.\.$/, "."),
    special,
    context,
  };
  return { text: textPart(content), html: htmlPart(content) };
}

function scoreUrl({ surveyUrl }: BodyContext, score: number): string {
  return `${surveyUrl}?score=${score}`;
}

function textPart({ question, intro, footer, why, special, context }: Content): string {
  const texts = surveyTexts(special.locale);
  const notes: Readonly<Record<number, string>> = { 0: ` (${texts.notLikely})`, [SCORE_MAX]: ` (${texts.veryLikely})` };
  const links = SCORES.map((score) => `${score}${notes[score] ?? ""}: ${scoreUrl(context, score)}`);
  const paragraphs = [
    intro,
    question,
    texts.choose,
    links.join("\n"),
    `${texts.answerOnPage}: ${context.surveyUrl}`,
    why,
    footer,
    `${texts.unsubscribe}: ${context.unsubscribeUrl}`,
  ];
  return `${paragraphs.filter((text) => text !== "").join("\n\n")}\n`;
}

/** Dark text on light cells: readable as it is, and when a mail program inverts it. */
const INK = "#1f2933";
const QUIET = "#52606d";
const LINK = "#1a4f9c";
const PAGE = "#f3f5f8";
const CARD = "#ffffff";
const CELL = "#f7f9fb";
const LINE = "#7b8794";
const EDGE = "#d9e0e7";
const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
/** Eleven cells of 26 px with a line between them fit a window of 320 px. */
const CELL_WIDTH = 26;
const WIDE_CELL_WIDTH = 40;
const LINE_WIDTH = 1;
const CARD_WIDTH = 518;

function scaleWidth(cell: number): number {
  return SCORES.length * (cell + LINE_WIDTH) + LINE_WIDTH;
}

/** Only what a mail program may leave out: more room on wide windows, and a dark outfit. */
const STYLE = [
  `@media (min-width:480px){.scale{width:${scaleWidth(WIDE_CELL_WIDTH)}px!important}`,
  `.score{width:${WIDE_CELL_WIDTH}px!important}.score a{line-height:44px!important;font-size:17px!important}}`,
  "@media (min-width:600px){.card{padding:36px 32px 28px!important}.page{padding:32px 0!important}}",
  "@media (prefers-color-scheme:dark){body,.page{background-color:#14181d!important}",
  ".card{background-color:#1f252c!important;border-color:#3a444f!important}",
  ".score{background-color:#2a323b!important;border-color:#8493a3!important}",
  ".ink,.score a{color:#f5f7fa!important}.quiet{color:#b4c0cc!important}.link{color:#9cc4ff!important}}",
].join("\n");

function htmlPart(content: Content): string {
  const { question, intro, special } = content;
  const { locale } = special;
  const language = `lang="${locale}" dir="${textDirection(locale)}"`;
  const start = textDirection(locale) === "rtl" ? "right" : "left";
  return [
    "<!doctype html>",
    `<html ${language}>`,
    '<head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">',
    `<title>${escapeHtml(question)}</title>`,
    `<style>:root{color-scheme:light dark;supported-color-schemes:light dark}\n${STYLE}</style></head>`,
    `<body style="margin:0;padding:0;background-color:${PAGE}">`,
    ...preheader(content),
    // Some programs drop the attributes of html and body.
    `<table ${language} role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="${PAGE}">`,
    `<tr><td class="page" align="center" bgcolor="${PAGE}" style="padding:12px 0;background-color:${PAGE};${FONT}">`,
    // Word ignores max-width.
    `<!--[if mso]><table role="presentation" width="${CARD_WIDTH}"><tr><td><![endif]-->`,
    `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:${CARD_WIDTH}px">`,
    `<tr><td class="card" align="${start}" bgcolor="${CARD}" style="padding:20px 9px;background-color:${CARD};border:1px solid ${EDGE};border-radius:12px">`,
    ...(intro === ""
      ? []
      : [
          `<p class="ink" dir="auto" style="margin:0 0 20px;font-size:16px;line-height:24px;color:${INK}">${lines(intro)}</p>`,
        ]),
    `<h1 class="ink" style="margin:0 0 24px;font-size:21px;line-height:29px;font-weight:600;color:${INK}">${escapeHtml(question)}</h1>`,
    ...scale(content),
    "</td></tr></table>",
    ...below(content, start),
    "<!--[if mso]></td></tr></table><![endif]-->",
    "</td></tr></table>",
    "</body></html>",
    "",
  ].join("\n");
}

/** The line that lists of mail show beside the subject. Without an intro the question is the first line anyway. */
function preheader({ question, intro }: Content): string[] {
  if (intro === "") return [];
  const hidden = "display:none;max-height:0;overflow:hidden;mso-hide:all";
  return [`<div aria-hidden="true" style="${hidden}">${escapeHtml(question)}</div>`];
}

/** From 0 on the left to 10 on the right in every language, each end's label in its own corner. */
function scale({ special, context }: Content): string[] {
  const texts = surveyTexts(special.locale);
  const direction = textDirection(special.locale);
  const width = scaleWidth(CELL_WIDTH);
  const table = `<table class="scale" role="presentation" dir="ltr" align="center" width="${width}" cellpadding="0" cellspacing="0" border="0"`;
  const label = (align: string, text: string): string =>
    `<td class="quiet" dir="${direction}" width="50%" align="${align}" valign="top" style="padding:8px 0 0;font-size:13px;line-height:18px;color:${QUIET};text-align:${align}">${escapeHtml(text)}</td>`;
  return [
    `${table} style="width:${width}px;border-collapse:separate;table-layout:fixed"><tr>`,
    ...SCORES.map((score) => scoreCell(context, score, fillText(texts.scoreOfTen, { score }))),
    "</tr></table>",
    `${table} style="width:${width}px;table-layout:fixed"><tr>`,
    label("left", texts.notLikely),
    label("right", texts.veryLikely),
    "</tr></table>",
    `<p style="margin:26px 0 0;font-size:15px;line-height:24px;text-align:center">${link(context.surveyUrl, texts.answerOnPage)}</p>`,
  ];
}

/** The room is the cell's: Word gives a link neither padding nor width. */
function scoreCell(context: BodyContext, score: number, name: string): string {
  const corners: Readonly<Record<number, string>> = { 0: "7px 0 0 7px", [SCORE_MAX]: "0 7px 7px 0" };
  const corner = corners[score] === undefined ? "" : `;border-radius:${corners[score]}`;
  const left = score === 0 ? LINE_WIDTH : 0;
  const border = `border:${LINE_WIDTH}px solid ${LINE};border-left-width:${left}px${corner}`;
  const title = escapeHtml(name);
  return [
    `<td class="score" width="${CELL_WIDTH}" align="center" bgcolor="${CELL}" style="width:${CELL_WIDTH}px;padding:2px 0;background-color:${CELL};${border}">`,
    `<a href="${escapeHtml(scoreUrl(context, score))}" title="${title}" aria-label="${title}" style="display:block;font-size:15px;line-height:36px;font-weight:600;color:${INK};text-decoration:none">${score}</a></td>`,
  ].join("");
}

/** Who sends this, why, and how to leave. */
function below({ why, footer, special, context }: Content, start: string): string[] {
  const { unsubscribe } = surveyTexts(special.locale);
  return [
    `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:${CARD_WIDTH}px">`,
    `<tr><td align="${start}" style="padding:16px 10px 0">`,
    paragraph(escapeHtml(why)),
    ...(footer === "" ? [] : [paragraph(lines(footer), ' dir="auto"')]),
    paragraph(link(context.unsubscribeUrl, unsubscribe)),
    "</td></tr></table>",
  ];
}

function paragraph(html: string, direction = ""): string {
  return `<p class="quiet"${direction} style="margin:0 0 8px;font-size:13px;line-height:20px;color:${QUIET}">${html}</p>`;
}

function link(url: string, text: string): string {
  return `<a class="link" href="${escapeHtml(url)}" style="color:${LINK};text-decoration:underline">${escapeHtml(text)}</a>`;
}

function lines(text: string): string {
  return escapeHtml(text).replaceAll("\n", "<br>\n");
}
