import type { Locale } from "../../../contract/locales.ts";
import { LANGUAGES, type SurveyTexts } from "./languages.ts";
import { singleLine } from "./plain-text.ts";

const RIGHT_TO_LEFT: ReadonlySet<Locale> = new Set(["ar", "he"]);

export function surveyTexts(locale: Locale): SurveyTexts {
  return LANGUAGES[locale];
}

/** The scale itself runs from left to right in all languages. */
export function textDirection(locale: Locale): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.has(locale) ? "rtl" : "ltr";
}

/** A text with `{name}` replaced by its value. A value is inserted as it is; a name without one stays. */
export function fillText(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : placeholder,
  );
}

/** The survey's question about a product, or about the sender when the product has no name. */
export function surveyQuestion({ question, questionAbout }: SurveyTexts, productName: string | null): string {
  const product = singleLine(productName ?? "");
  return product === "" ? question : fillText(questionAbout, { product });
}
