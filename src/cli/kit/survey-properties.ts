/** Flags for properties (section 2, "Special properties"). */
import { quoteText } from "../../contract/text/invisible.ts";
import { type JsonObject, numberThatLosesDigits, parseJsonObject } from "../../contract/json.ts";
import { characterCount } from "../../contract/limits.ts";
import { FALLBACK_LOCALE, findLocale, LOCALES, lookUpLocale } from "../../contract/locales.ts";
import { SPECIAL_PROPERTIES, type SpecialProperty } from "../../contract/special-properties.ts";
import { suggest } from "../args/suggest.ts";
import { readTextFile } from "../args/text-file.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { FlagRecord } from "../args/flag-record.ts";
import { parseKeyValue } from "../args/values.ts";
import type { FlagGroup } from "./flag-spec.ts";

/** Null without flags. `--property` overrides `--properties`; flags such as `--locale` override both. */
export function surveyProperties(text = "a property, such as plan=pro"): FlagGroup<Promise<JsonObject | null>> {
  return {
    records: [
      { flag: "--property", value: "key=value", text, repeatable: true },
      { flag: "--properties", value: "json", text: "several properties as a JSON object, or @FILE with one" },
      ...SPECIAL_PROPERTIES.map(toFlag),
    ],
    read: async (flags) => {
      const properties = await readProperties(flags.text("--properties"));
      const all: JsonObject = Object.fromEntries([
        ...Object.entries(properties ?? {}),
        ...flags.all("--property").map((pair) => parseKeyValue(pair, "--property")),
        ...SPECIAL_PROPERTIES.map(({ key, flag }) => [key, flags.text(`--${flag}`)] as const).filter(
          ([, value]) => value !== null,
        ),
      ]);
      for (const rule of SPECIAL_PROPERTIES) checkLength(rule, all);
      return properties === null && Object.keys(all).length === 0 ? null : all;
    },
  };
}

function checkLength(rule: SpecialProperty, all: JsonObject): void {
  if (rule.maxLength === undefined) return;
  for (const key of [rule.key, rule.olderName]) {
    const value = key === undefined ? undefined : all[key];
    if (typeof value !== "string" || characterCount(value) <= rule.maxLength) continue;
    throw new UsageError(
      `--${rule.flag}: ${key} has ${characterCount(value)} characters; at most ${rule.maxLength} are allowed`,
    );
  }
}

/** Null for a supported locale. `place` is the flag or cell that named it. */
export function localeWarning(properties: JsonObject | null, place = "--locale"): string | null {
  const locale = properties?.["locale"];
  if (locale === undefined || locale === null) return null;
  const named = typeof locale === "string" ? locale : JSON.stringify(locale);
  if (findLocale(named) !== null) return null;
  // Suggests the intended locale for a typo, or `de` for a regional variant such as `de-AT`.
  const nearest = suggest(named, LOCALES) ?? lookUpLocale(named.replaceAll("_", "-"));
  const advice = nearest === null ? "" : `; did you mean ${nearest}?`;
  return `${place}: "${named}" is not a supported locale; the survey falls back to ${FALLBACK_LOCALE}${advice}`;
}

function parseProperties(text: string, flag = "--properties"): JsonObject {
  const value = parseJsonObject(text);
  if (value === null) throw new UsageError(`${flag}: ${quoteText(text)} is not a JSON object, as in {"plan":"pro"}`);
  const number = numberThatLosesDigits(text);
  if (number === null) return value;
  throw new UsageError(`${flag}: ${number} has more digits than a JSON number keeps; write it in quotes, as text`);
}

export const REPLACE_PROPERTIES_FLAG: FlagRecord = {
  flag: "--replace-properties",
  text: "remove stored properties that are not given, instead of merging",
};

function toFlag({ key, flag, effect, maxLength }: SpecialProperty): FlagRecord {
  const base: FlagRecord = { flag: `--${flag}`, value: "text", text: effect };
  if (key === "locale")
    return {
      ...base,
      text: `${effect}, such as de or pt-BR (others fall back to ${FALLBACK_LOCALE})`,
      suggestions: LOCALES,
    };
  return maxLength === undefined ? base : { ...base, text: `${effect}, at most ${maxLength} characters` };
}

async function readProperties(text: string | null): Promise<JsonObject | null> {
  if (text === null) return null;
  if (!text.startsWith("@")) return parseProperties(text);
  return parseProperties(await readTextFile(text.slice(1)), `--properties ${text}`);
}
