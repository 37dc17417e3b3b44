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

/** Includes codes that were renamed, and Chinese by script or region. */
const ALIASES: Readonly<Record<string, Locale>> = {
  zh: "zh-CN",
  "zh-Hans": "zh-CN",
  "zh-SG": "zh-CN",
  "zh-Hant": "zh-TW",
  "zh-Hant-HK": "zh-HK",
  "zh-Hant-MO": "zh-HK",
  "zh-MO": "zh-HK",
  no: "nb",
  nn: "nb",
  iw: "he",
  in: "id",
};

const BY_TAG: ReadonlyMap<string, Locale> = new Map(
  [...LOCALES.map((locale) => [locale, locale] as const), ...Object.entries(ALIASES)].map(([tag, locale]) => [
    tag.toLowerCase(),
    locale,
  ]),
);

export function isLocale(value: unknown): value is Locale {
  return (LOCALES as readonly unknown[]).includes(value);
}

export function findLocale(tag: string): Locale | null {
  return BY_TAG.get(tag.toLowerCase()) ?? null;
}

/** RFC 4647 lookup: `de-AT` finds `de`. */
export function lookUpLocale(range: string): Locale | null {
  for (let tag = range; tag !== ""; tag = tag.slice(0, Math.max(0, tag.lastIndexOf("-")))) {
    const found = findLocale(tag);
    if (found !== null) return found;
  }
  return null;
}

/** The best supported match of an `Accept-Language` header, or null. `q=0` excludes a language. */
export function preferredLocale(header: string): Locale | null {
  const wishes = header.split(",").map((part) => {
    const [range = "", quality = "1"] = part.trim().split(/\s*;\s*q\s*=/i);
    return { range, quality: Number(quality) };
  });
  const excluded = new Set(wishes.filter(({ quality }) => quality === 0).map(({ range }) => findLocale(range)));
  const found = wishes
    .filter(({ quality }) => quality > 0)
    .toSorted((one, other) => other.quality - one.quality)
    .map(({ range }) => lookUpLocale(range))
    .find((locale) => locale !== null && !excluded.has(locale));
  return found ?? null;
}

/** The language a survey is shown in; `en` if the value names none (section 2). */
export function effectiveLocale(value: unknown): Locale {
  return (typeof value === "string" ? findLocale(value) : null) ?? FALLBACK_LOCALE;
}
