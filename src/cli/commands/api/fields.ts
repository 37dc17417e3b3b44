import { readFile } from "node:fs/promises";
import { parseBracketPairs } from "../../../contract/brackets.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../contract/json.ts";
import { parseKeyValue } from "../../args/values.ts";
import { UsageError } from "../../errors/usage-error.ts";

/** `-F` and `-f` as one object; `name[]` collects an array and `name[key]` a map, as in the specification, section 1. */
export async function parseFields(typed: readonly string[], raw: readonly string[]): Promise<JsonObject> {
  const fields: [string, Json][] = raw.map((text) => parseKeyValue(text, "--raw-field"));
  for (const text of typed) {
    const [key, value] = parseKeyValue(text, "--field");
    fields.push([key, value.startsWith("@") ? await readFile(value.slice(1), "utf8") : parseTyped(value)]);
  }
  return nest(fields);
}

function parseTyped(text: string): Json {
  const value = parseOr(text);
  if (typeof value !== "number" || !Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  throw new UsageError(`--field: ${text} has more digits than a number keeps`, {
    hint: "--raw-field sends it as text",
  });
}

function parseOr(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** The bracket codec knows text only: the values travel as their index and are put back afterwards. */
function nest(fields: readonly (readonly [string, Json])[]): JsonObject {
  const places = parseBracketPairs(fields.map(([key], index) => [key, String(index)]));
  const restore = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(restore);
    if (isJsonObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, restore(inner)]));
    return fields[Number(value)]?.[1] ?? null;
  };
  return restore(places) as JsonObject;
}
