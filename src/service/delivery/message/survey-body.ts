/** Uses tables, because mail programs don't support flexbox or grid, and some drop the style sheet. */
import { SCORE_MAX } from "../../../contract/limits.ts";
import type { Locale } from "../../../contract/locales.ts";
import { escapeHtml } from "../../../contract/text/html.ts";
import type { Accent, Brand } from "../../domain/projects/brand.ts";
import type { SurveyWords } from "../../domain/surveys/survey-words.ts";
import { multiLine, singleLine } from "../../domain/texts/plain-text.ts";
import { fillText, surveyQuestion, surveyTexts, textDirection } from "../../domain/texts/survey-texts.ts";

/** Text typed by people has been cleaned but not escaped. */
interface BodyContent {
  readonly locale: Locale;
  readonly accent: Accent | null;
  /** May be empty, like `intro` and `footer`. */
  readonly brand: string;
  readonly question: string;
  readonly intro: string;
  readonly footer: string;
  readonly why: string;
  readonly surveyUrl: string;
  readonly scoreUrls: readonly string[];
  readonly unsubscribeUrl: string;
}

export interface BodyContext {
  readonly surveyUrl: string;
  readonly unsubscribeUrl: string;
  readonly sender: string | null;
  readonly footer: string | null;
  readonly brand: Brand;
  readonly isReminder: boolean;
}

export function surveyBody(
  words: SurveyWords,
  { sender, footer, brand, surveyUrl, unsubscribeUrl, isReminder }: BodyContext,
): { readonly text: string; readonly html: string } {
  const { locale, introMessage } = words;
  const texts = surveyTexts(locale);
  const content: BodyContent = {
    locale,
    accent: brand.accent,
    brand: singleLine(brand.name ?? ""),
    question: surveyQuestion(texts, words),
    intro: [isReminder ? texts.reminder : "", multiLine(introMessage ?? "")].filter((text) => text !== "").join("\n\n"),
    footer: multiLine(footer ?? ""),
    // A name such as `Acme Inc.` already ends with a full stop.
    why: sender === null ? texts.whyYouGetThisFromUs : fillText(texts.whyYouGetThis, { sender }).replace(/\.\.$/, "."),
    surveyUrl,
    scoreUrls: Array.from({ length: SCORE_MAX + 1 }, (_, score) => `${surveyUrl}?score=${score}`),
    unsubscribeUrl,
  };
  return { text: textPart(content), html: htmlPart(content) };
}

function textPart({ locale, brand, question, intro, footer, why, ...urls }: BodyContent): string {
  const texts = surveyTexts(locale);
  const notes: Readonly<Record<number, string>> = { 0: ` (${texts.notLikely})`, [SCORE_MAX]: ` (${texts.veryLikely})` };
  const links = urls.scoreUrls.map((url, score) => `${score}${notes[score] ?? ""}: ${url}`);
  const paragraphs = [
    brand,
    intro,
    question,
    texts.choose,
    links.join("\n"),
    `${texts.answerOnPage}: ${urls.surveyUrl}`,
    why,
    footer,
    `${texts.unsubscribe}: ${urls.unsubscribeUrl}`,
  ];
  return `${paragraphs.filter((text) => text !== "").join("\n\n")}\n`;
}

/** Dark text on light cells stays readable if a mail program inverts it. */
const INK = "#1f2933";
const QUIET = "#52606d";
const LINK: Accent["link"] = { light: "#1a4f9c", dark: "#9cc4ff" };
const PAGE = "#f3f5f8";
const CARD = "#ffffff";
const CELL = "#f7f9fb";
const LINE = "#7b8794";
const EDGE = "#d9e0e7";

/** Eleven cells of 26 px, plus the lines between them, fit in 320 px. */
const CELL_WIDTH = 26;
const WIDE_CELL_WIDTH = 40;
const CARD_WIDTH = 518;

function scaleWidth(cell: number): number {
  return (SCORE_MAX + 1) * (cell + 1) + 1;
}

/** Contains only what a mail program can safely drop: more space in wide windows, and dark colors. */
const styleSheet = ({ dark }: Pick<Accent["link"], "dark">): string =>
  [
    ":root{color-scheme:light dark;supported-color-schemes:light dark}",
    `@media (min-width:480px){.scale{width:${scaleWidth(WIDE_CELL_WIDTH)}px!important}`,
    `.score{width:${WIDE_CELL_WIDTH}px!important}.score a{line-height:44px!important;font-size:17px!important}h1{text-wrap:balance}}`,
    "@media (min-width:600px){.card{padding:36px 32px 28px!important}.page{padding:32px 0!important}",
    ".below{padding:16px 33px 0!important}}",
    "@media (prefers-color-scheme:dark){body,.page{background-color:#14181d!important}",
    ".card{background-color:#1f252c!important;border-color:#3a444f!important}",
    ".score{background-color:#2a323b!important;border-color:#8493a3!important}",
    `.ink,.score a{color:#f5f7fa!important}.quiet{color:#b4c0cc!important}.link{color:${dark}!important}}`,
  ].join("\n");

// Repeated in each table, because tables in Word don't inherit fonts.
const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
// Chrome, Apple Mail and Gmail use the first declaration, Firefox the second.
const WRAP = "word-break:break-word;overflow-wrap:anywhere";
const STYLES = {
  body: `margin:0;padding:0;background-color:${PAGE}`,
  page: `padding:12px 0;background-color:${PAGE}`,
  card: `${WRAP};padding:20px 9px;background-color:${CARD};border:1px solid ${EDGE};border-radius:12px`,
  hidden: "display:none;max-height:0;overflow:hidden;mso-hide:all",
  brand: `${FONT};margin:0 0 16px;font-size:15px;line-height:20px;font-weight:600;color:${QUIET}`,
  intro: `${FONT};margin:0 0 20px;font-size:16px;line-height:24px;color:${INK}`,
  question: `${FONT};margin:0 0 24px;font-size:21px;line-height:29px;font-weight:600;color:${INK}`,
  scale: `width:${scaleWidth(CELL_WIDTH)}px;border-collapse:separate;table-layout:fixed`,
  cell: `width:${CELL_WIDTH}px;padding:2px 0;background-color:${CELL};border:1px solid ${LINE}`,
  score: `${FONT};display:block;font-size:15px;line-height:36px;font-weight:600;color:${INK};text-decoration:none`,
  label: `${FONT};padding:8px 0 0;font-size:13px;line-height:18px;color:${QUIET}`,
  onPage: `${FONT};margin:26px 0 0;font-size:15px;line-height:24px;text-align:center`,
  below: `${WRAP};padding:16px 10px 0`,
  note: `${FONT};margin:0 0 8px;font-size:13px;line-height:20px;color:${QUIET}`,
} as const;

type Attributes = Readonly<Record<string, string | number>>;

function tag(name: string, attributes: Attributes): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeValue(String(value))}"`);
  return `<${name}${written.join("")}>`;
}

/** Keeps the quotes around font names. */
function escapeValue(text: string): string {
  return escapeHtml(text).replaceAll("&#39;", "'");
}

function table(attributes: Attributes): string {
  return tag("table", { role: "presentation", cellpadding: 0, cellspacing: 0, border: 0, ...attributes });
}

function htmlPart(content: BodyContent): string {
  const { locale, question } = content;
  const language = { lang: locale, dir: textDirection(locale) };
  const column = table({ width: "100%", style: `max-width:${CARD_WIDTH}px` });
  const align = language.dir === "rtl" ? "right" : "left";
  return [
    "<!doctype html>",
    tag("html", language),
    '<head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">',
    `<title>${escapeHtml(question)}</title>`,
    `<style>${styleSheet(linkColours(content))}</style></head>`,
    tag("body", { style: STYLES.body }),
    ...preheader(content),
    // Some programs drop the attributes of html and body.
    table({ ...language, width: "100%", bgcolor: PAGE }),
    `<tr>${tag("td", { class: "page", align: "center", bgcolor: PAGE, style: STYLES.page })}`,
    // Word ignores `max-width`.
    `<!--[if mso]>${table({ width: CARD_WIDTH })}<tr><td><![endif]-->`,
    `${column}<tr>${tag("td", { class: "card", align, bgcolor: CARD, style: STYLES.card + brandEdge(content) })}`,
    ...ask(content),
    "</td></tr></table>",
    `${column}<tr>${tag("td", { class: "below", align, style: STYLES.below })}`,
    ...explain(content),
    "</td></tr></table>",
    "<!--[if mso]></td></tr></table><![endif]-->",
    "</td></tr></table>",
    "</body></html>",
    "",
  ].join("\n");
}

/** The edge has no text on it, so its color is the same in dark mode. */
function brandEdge({ accent }: BodyContent): string {
  return accent === null ? "" : `;border-top:4px solid ${accent.color}!important`;
}

/** The preview shown in a list of messages. Without a brand and intro, the mail begins with the question anyway. */
function preheader({ question, brand, intro }: BodyContent): string[] {
  if (brand === "" && intro === "") return [];
  return [`${tag("div", { "aria-hidden": "true", style: STYLES.hidden })}${escapeHtml(question)}</div>`];
}

function ask(content: BodyContent): string[] {
  const { locale, brand, intro, question, surveyUrl } = content;
  const brandTag = tag("p", { class: "quiet", dir: "auto", style: STYLES.brand });
  const introTag = tag("p", { class: "ink", dir: "auto", style: STYLES.intro });
  return [
    ...(brand === "" ? [] : [`${brandTag}${escapeHtml(brand)}</p>`]),
    ...(intro === "" ? [] : [`${introTag}${lines(intro)}</p>`]),
    `${tag("h1", { class: "ink", style: STYLES.question })}${escapeHtml(question)}</h1>`,
    ...scale(content),
    `${tag("p", { style: STYLES.onPage })}${link(content, surveyUrl, surveyTexts(locale).answerOnPage)}</p>`,
  ];
}

/** The scale runs from 0 on the left to 10 on the right in every language, with a label in each corner. */
function scale({ locale, scoreUrls }: BodyContent): string[] {
  const { scoreOfTen, notLikely, veryLikely } = surveyTexts(locale);
  const row = { class: "scale", dir: "ltr", align: "center", width: scaleWidth(CELL_WIDTH), style: STYLES.scale };
  const label = (align: string, text: string): string => {
    const style = `${STYLES.label};text-align:${align}`;
    const attributes = { class: "quiet", dir: textDirection(locale), width: "50%", align, valign: "top", style };
    return `${tag("td", attributes)}${escapeHtml(text)}</td>`;
  };
  return [
    `${table(row)}<tr>`,
    ...scoreUrls.map((url, score) => scoreCell(url, score, fillText(scoreOfTen, { score }))),
    "</tr></table>",
    `${table(row)}<tr>`,
    label("left", notLikely),
    label("right", veryLikely),
    "</tr></table>",
  ];
}

/** The cell sets the size, because Word ignores padding and width of links. */
function scoreCell(href: string, score: number, name: string): string {
  const ends: Readonly<Record<number, string>> = {
    0: ";border-radius:7px 0 0 7px",
    [SCORE_MAX]: ";border-left-width:0;border-radius:0 7px 7px 0",
  };
  const style = `${STYLES.cell}${ends[score] ?? ";border-left-width:0"}`;
  const cell = tag("td", { class: "score", width: CELL_WIDTH, align: "center", bgcolor: CELL, style });
  return `${cell}${tag("a", { href, title: name, "aria-label": name, style: STYLES.score })}${score}</a></td>`;
}

function explain(content: BodyContent): string[] {
  const { locale, why, footer, unsubscribeUrl } = content;
  const note = { class: "quiet", style: STYLES.note };
  return [
    `${tag("p", note)}${escapeHtml(why)}</p>`,
    ...(footer === "" ? [] : [`${tag("p", { ...note, dir: "auto" })}${lines(footer)}</p>`]),
    `${tag("p", note)}${link(content, unsubscribeUrl, surveyTexts(locale).unsubscribe)}</p>`,
  ];
}

function link(content: BodyContent, href: string, text: string): string {
  const style = `color:${linkColours(content).light};text-decoration:underline`;
  return `${tag("a", { class: "link", href, style })}${escapeHtml(text)}</a>`;
}

function linkColours({ accent }: BodyContent): Accent["link"] {
  return accent?.link ?? LINK;
}

function lines(text: string): string {
  return escapeHtml(text).replaceAll("\n", "<br>\n");
}
