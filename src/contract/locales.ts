/** The supported survey languages, section 2 "Special properties", in the specification's order. */
export const LOCALES = [
  "ar",
  "bg",
  "zh-CN",
  "zh-HK",
  "zh-TW",
  "hr",
  "cs",
  "da",
  "nl",
  "en",
  "et",
  "fi",
  "fr",
  "ka",
  "de",
  "el",
  "he",
  "hu",
  "id",
  "it",
  "ja",
  "ko",
  "lv",
  "lt",
  "ms",
  "nb",
  "pl",
  "pt-BR",
  "pt",
  "ro",
  "ru",
  "sr",
  "es",
  "sv",
  "th",
  "tr",
  "vi",
] as const;

export type Locale = (typeof LOCALES)[number];

export const FALLBACK_LOCALE: Locale = "en";

/** True for one of the supported languages, spelled as the specification does. */
export function isLocale(value: unknown): value is Locale {
  return (LOCALES as readonly unknown[]).includes(value);
}

/** The language a survey is shown in: the value when it is supported, else `en` (section 2). */
export function effectiveLocale(value: unknown): Locale {
  return isLocale(value) ? value : FALLBACK_LOCALE;
}
