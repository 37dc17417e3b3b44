import { expect, it } from "vitest";
import { effectiveLocale, preferredLocale } from "../../src/contract/locales.ts";

it.each([
  ["zh-TW", "zh-TW"],
  ["zh-tw", "zh-TW"],
  ["zh", "zh-CN"],
  ["zh-Hans-CN", "zh-CN"],
  ["zh-SG", "zh-CN"],
  ["zh-Hant", "zh-TW"],
  ["zh-Hant-TW", "zh-TW"],
  ["zh-Hant-HK", "zh-HK"],
  ["zh-MO", "zh-HK"],
  ["no", "nb"],
  ["nn-NO", "nb"],
  ["iw", "he"],
  ["in-ID", "id"],
  ["pt-br", "pt-BR"],
  ["pt-PT", "pt"],
  ["DE-de", "de"],
  ["es-419", "es"],
  ["sr-Latn-RS", "sr"],
  ["en;q=0.1,de;q=0.9", "de"],
  ["en;q=0.1, de; Q=0.9", "de"],
  ["xx, *, fr;q=0.2", "fr"],
  ["en;q=0,fr", "fr"],
  ["en;q=0.000, en-GB, fr;q=0.1", "fr"],
  ["en-US;q=0, en", "en"],
  ["de;q=much, fr;q=0.1", "fr"],
  ["", null],
  ["*", null],
  ["xx;q=1, toString", null],
])("a browser that asks for %j gets %s", (header, locale) => {
  expect(preferredLocale(header)).toBe(locale);
});

it.each([
  ["PT-br", "pt-BR"],
  ["DE", "de"],
  ["iw", "he"],
  ["zh-hant", "zh-TW"],
  ["no", "nb"],
  ["de-AT", "en"],
  ["nb-NO", "en"],
  ["pt_BR", "en"],
  [" de", "en"],
  ["constructor", "en"],
  [null, "en"],
  [["de"], "en"],
])("the locale property %j is %s", (value, locale) => {
  expect(effectiveLocale(value)).toBe(locale);
});
