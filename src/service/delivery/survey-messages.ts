/** The survey as an e-mail and as a text message: section 2 "Special properties" and the rules of delivery. */
import { SCORE_MAX, scoreCategory } from "../../contract/limits.ts";
import type { DueSurvey } from "../domain/ports.ts";
import { readSpecialProperties, type SpecialProperties } from "../domain/special-properties.ts";
import { formatMessage, headerText, mailbox } from "./mime.ts";
import { surveyTexts, type SurveyTexts } from "./survey-texts.ts";

export interface MailContext {
  /** Where the pages of this service lie, without a slash at the end. */
  readonly appUrl: string;
  /** Unix seconds. */
  readonly now: number;
}

const SCORES = Array.from({ length: SCORE_MAX + 1 }, (_, score) => score);
const COLOURS = { detractor: "#c0392b", passive: "#8a6d00", promoter: "#1e7e34" };
const RIGHT_TO_LEFT = new Set(["ar", "he"]);

/** The survey's question in the survey's language. */
function surveyQuestion({ productName }: SpecialProperties, texts: SurveyTexts): string {
  return productName === null ? texts.question : texts.questionAbout.replace("{product}", () => productName);
}

/** A whole message; the same claim gives the same text at the same `now`. */
export function formatSurveyMail(due: DueSurvey, { appUrl, now }: MailContext): string {
  const special = readSpecialProperties(due.properties);
  const { texts, language } = surveyTexts(special.locale);
  const unsubscribeUrl = `${appUrl}/u/${due.token}`;
  const content: Content = {
    question: surveyQuestion(special, texts),
    intro: special.introMessage,
    texts,
    language,
    surveyUrl: `${appUrl}/s/${due.token}`,
    unsubscribeUrl,
  };
  const host = senderHost(appUrl);
  const headers: [string, string][] = [
    ["From", mailbox(senderName(due, special), `surveys@${host}`)],
    ["To", mailbox(due.person.name, due.person.email ?? "")],
    ["Subject", headerText(special.emailSubject ?? texts.subject)],
    ["Date", new Date(now * 1000).toUTCString().replace("GMT", "+0000")],
    ["Message-ID", `<survey-${due.project.id}-${due.requestId}@${host}>`],
    ["Content-Language", language],
    ["List-Unsubscribe", `<${unsubscribeUrl}>`],
    ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"],
  ];
  const parts = [
    { type: "text/plain", text: textPart(content) },
    { type: "text/html", text: htmlPart(content) },
  ];
  return formatMessage(headers, parts, `survey-${due.project.id}-${due.requestId}-${due.token}`);
}

/** Whom the mail is from, as people know them; `default` says nothing to anybody. */
function senderName({ project }: DueSurvey, { productName }: SpecialProperties): string | null {
  return productName ?? (project.name === "default" ? null : project.name);
}

interface Content {
  readonly question: string;
  readonly intro: string | null;
  readonly texts: SurveyTexts;
  readonly language: string;
  readonly surveyUrl: string;
  readonly unsubscribeUrl: string;
}

/** A domain name that mail can come from; a bare address is none. */
function senderHost(appUrl: string): string {
  const { hostname } = new URL(appUrl);
  return /^[\d.]+$|^\[/.test(hostname) ? "localhost" : hostname;
}

function scoreUrl({ surveyUrl }: Content, score: number): string {
  return `${surveyUrl}?score=${score}`;
}

function textPart(content: Content): string {
  const { intro, question, texts, unsubscribeUrl } = content;
  const notes: Readonly<Record<number, string>> = { 0: ` (${texts.notLikely})`, [SCORE_MAX]: ` (${texts.veryLikely})` };
  const links = SCORES.map((score) => `${score}${notes[score] ?? ""}: ${scoreUrl(content, score)}`);
  return [
    ...(intro === null ? [] : [intro, ""]),
    question,
    "",
    texts.choose,
    "",
    ...links,
    "",
    `${texts.unsubscribe}: ${unsubscribeUrl}`,
    "",
  ].join("\n");
}

function htmlPart(content: Content): string {
  const { intro, question, texts, language, unsubscribeUrl } = content;
  const direction = RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr";
  return [
    "<!doctype html>",
    `<html lang="${language}" dir="${direction}">`,
    `<head><meta charset="utf-8"><title>${escapeHtml(question)}</title></head>`,
    '<body style="font-family:sans-serif;color:#222;max-width:36em;margin:2em auto">',
    ...(intro === null ? [] : [`<p>${escapeHtml(intro).replaceAll("\n", "<br>\n")}</p>`]),
    `<h1 style="font-size:1.2em">${escapeHtml(question)}</h1>`,
    '<table role="presentation" dir="ltr"><tr>',
    ...SCORES.map((score) => `<td>${scoreLink(content, score)}</td>`),
    "</tr></table>",
    `<p>0: ${escapeHtml(texts.notLikely)}, ${SCORE_MAX}: ${escapeHtml(texts.veryLikely)}</p>`,
    `<p style="font-size:0.8em"><a href="${escapeHtml(unsubscribeUrl)}">${escapeHtml(texts.unsubscribe)}</a></p>`,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

function scoreLink(content: Content, score: number): string {
  const style = `display:inline-block;min-width:1.6em;padding:0.5em 0.2em;text-align:center;color:#fff;background:${COLOURS[scoreCategory(score)]}`;
  return `<a href="${escapeHtml(scoreUrl(content, score))}" style="${style}">${score}</a>`;
}

export function formatSurveySms(due: DueSurvey, appUrl: string): string {
  const special = readSpecialProperties(due.properties);
  const { texts } = surveyTexts(special.locale);
  const lines = [special.introMessage, surveyQuestion(special, texts), `${appUrl}/s/${due.token}`];
  const text = lines.filter((line) => line !== null).join("\n");
  return `${JSON.stringify({ to: due.person.phoneNumber, text }, null, 2)}\n`;
}

/** Text that HTML shows as it is. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
