import type { Locale } from "../../../contract/locales.ts";
import { LANGUAGES, type SurveyTexts } from "./languages.ts";
import { singleLine } from "./plain-text.ts";

const RIGHT_TO_LEFT: ReadonlySet<Locale> = new Set(["ar", "he"]);

export function surveyTexts(locale: Locale): SurveyTexts {
  return LANGUAGES[locale];
}

/** The score scale itself runs from left to right in all languages. */
export function textDirection(locale: Locale): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.has(locale) ? "rtl" : "ltr";
}

/** Replaces each `{name}` with its value, without escaping; unknown names stay. */
export function fillText(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : placeholder,
  );
}

interface QuestionWords {
  readonly productName: string | null;
  readonly question: string | null;
}

/** The project's own question; null if there is none, or if it mentions a product that has no name. */
export function ownQuestion({ productName, question }: QuestionWords): string | null {
  const product = singleLine(productName ?? "");
  const own = singleLine(question ?? "");
  return own === "" || (product === "" && own.includes("{product}")) ? null : fillText(own, { product });
}

export function surveyQuestion({ question, questionAbout }: SurveyTexts, words: QuestionWords): string {
  const product = singleLine(words.productName ?? "");
  return ownQuestion(words) ?? (product === "" ? question : fillText(questionAbout, { product }));
}
