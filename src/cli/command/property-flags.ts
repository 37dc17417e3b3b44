/** The property flags of `people add`, `people update` and `autopilot add`. */
import { readFile } from "node:fs/promises";
import type { JsonObject } from "../../contract/json.ts";
import { FALLBACK_LOCALE, LOCALES } from "../../contract/locales.ts";
import { SPECIAL_PROPERTIES, type SpecialProperty } from "../../contract/special-properties.ts";
import type { FlagRecord } from "../args/flag.ts";
import type { Flags } from "../args/flags.ts";
import { parseKeyValue } from "../args/key-value.ts";
import { UsageError } from "../errors/usage-error.ts";
import { parseProperties, type PropertySources } from "./survey-properties.ts";

export const PROPERTY_FLAGS: readonly FlagRecord[] = [
  { flag: "--property", value: "key=value", text: "property", repeatable: true },
  { flag: "--properties", value: "json", text: "several properties as a JSON object, or @FILE that holds one" },
  ...SPECIAL_PROPERTIES.map(toFlag),
];

function toFlag({ key, flag, effect, maxLength }: SpecialProperty): FlagRecord {
  const base: FlagRecord = { flag: `--${flag}`, value: "text", text: effect };
  if (key === "locale")
    return {
      ...base,
      text: `${effect}, as in de or pt-BR (others fall back to ${FALLBACK_LOCALE})`,
      suggestions: LOCALES,
    };
  return maxLength === undefined ? base : { ...base, text: `${effect}, at most ${maxLength} characters` };
}

/** Throws UsageError. */
export async function readPropertyFlags(flags: Flags): Promise<PropertySources> {
  const special = SPECIAL_PROPERTIES.flatMap(({ key, flag }): [string, string][] => {
    const text = flags.text(`--${flag}`);
    return text === null ? [] : [[key, text]];
  });
  return {
    properties: await readProperties(flags.text("--properties")),
    pairs: flags.all("--property").map((text) => parseKeyValue(text, "--property")),
    special: Object.fromEntries(special),
  };
}

async function readProperties(text: string | null): Promise<JsonObject | null> {
  if (text === null) return null;
  if (!text.startsWith("@")) return parseProperties(text);
  const file = text.slice(1);
  try {
    return parseProperties(await readFile(file, "utf8"), `--properties ${text}`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `--properties: cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}
