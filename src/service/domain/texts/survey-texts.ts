/** The words of a survey in every language of `contract/locales.ts`, for mail, page and text message. */
import type { Locale } from "../../../contract/locales.ts";
import { BALTIC_TEXTS } from "./baltic.ts";
import { EAST_ASIAN_TEXTS } from "./east-asia.ts";
import { GERMANIC_TEXTS } from "./germanic.ts";
import { NEAR_EASTERN_TEXTS } from "./near-east.ts";
import { ROMANCE_TEXTS } from "./romance.ts";
import { SLAVIC_TEXTS } from "./slavic.ts";
import { SOUTHEAST_ASIAN_TEXTS } from "./southeast-asia.ts";
import { singleLine } from "./plain-text.ts";
import type { SurveyTexts } from "./text-row.ts";

const TEXTS: Readonly<Record<Locale, SurveyTexts>> = {
  ...GERMANIC_TEXTS,
  ...ROMANCE_TEXTS,
  ...SLAVIC_TEXTS,
  ...BALTIC_TEXTS,
  ...NEAR_EASTERN_TEXTS,
  ...EAST_ASIAN_TEXTS,
  ...SOUTHEAST_ASIAN_TEXTS,
};

const RIGHT_TO_LEFT: ReadonlySet<Locale> = new Set(["ar", "he"]);

export function surveyTexts(locale: Locale): SurveyTexts {
  return TEXTS[locale];
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
