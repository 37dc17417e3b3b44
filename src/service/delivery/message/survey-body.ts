import { SCORE_MAX } from "../../../contract/limits.ts";
import type { Brand } from "../../domain/projects/brand.ts";
import type { SurveyWords } from "../../domain/surveys/survey-words.ts";
import { multiLine, singleLine } from "../../domain/texts/plain-text.ts";
import { fillText, surveyQuestion, surveyTexts } from "../../domain/texts/survey-texts.ts";
import { type BodyContent, htmlPart } from "./survey-html.ts";

export interface BodyContext {
  readonly surveyUrl: string;
  readonly unsubscribeUrl: string;
  readonly sender: string;
  readonly footer: string | null;
  readonly brand: Brand;
  readonly isReminder: boolean;
}

export function surveyBody(
  { locale, productName, introMessage }: SurveyWords,
  { sender, footer, brand, surveyUrl, unsubscribeUrl, isReminder }: BodyContext,
): { readonly text: string; readonly html: string } {
  const texts = surveyTexts(locale);
  const content: BodyContent = {
    locale,
    accent: brand.accent,
    brand: singleLine(brand.name ?? ""),
    question: surveyQuestion(texts, productName),
    intro: [isReminder ? texts.reminder : "", multiLine(introMessage ?? "")].filter((text) => text !== "").join("\n\n"),
    footer: multiLine(footer ?? ""),
    // A name such as `Acme Inc.` already ends with a full stop.
    why: fillText(texts.whyYouGetThis, { sender }).replace(/\.\.$/, "."),
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
