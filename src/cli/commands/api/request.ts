import { quoteText } from "../../../contract/text/invisible.ts";
import { formatQuery, parseBracketPairs } from "../../../contract/brackets.ts";
import { isJsonObject, type Json, type JsonObject, numberThatLosesDigits, parseJson } from "../../../contract/json.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { readTextFile } from "../../args/text-file.ts";
import { parseKeyValue } from "../../args/values.ts";
import type { FlagGroup } from "../../kit/flag-spec.ts";

export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;

/** Returns the absolute URL. Throws UsageError if it is outside the base URL, because the key is sent nowhere else. */
export function resolveTarget(path: string, baseUrl: string, query: JsonObject): string {
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/$/, "");
  const isAbsolute = /^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(path);
  if (isAbsolute && !URL.canParse(path))
    throw new UsageError(`${quoteText(path)} is not a valid path, such as /v1/people.json`);
  const url = new URL(isAbsolute ? path : `${base.origin}${prefix}/${path.replace(/^\/+/, "")}`);
  const below = url.origin === base.origin && `${url.pathname}/`.startsWith(`${prefix}/`);
  if (!below || url.username !== "" || url.password !== "") {
    throw new UsageError(`${quoteText(path)} is outside the base URL ${baseUrl}; the API key is only sent there`);
  }
  const added = formatQuery(query);
  if (added !== "") url.search = url.search === "" ? added : `${url.search}&${added}`;
  return url.href;
}

/** `name[]` becomes an array and `name[key]` an object (section 1). */
export const FIELDS: FlagGroup<Promise<JsonObject>> = {
  records: [
    {
      flag: "--field",
      short: "-F",
      value: "key=value",
      text: "typed value (JSON): number, true, false, null, JSON or @FILE",
      repeatable: true,
    },
    { flag: "--raw-field", short: "-f", value: "key=value", text: "string value", repeatable: true },
  ],
  read: async (flags) => {
    const fields: [string, Json][] = flags.all("--raw-field").map((text) => parseKeyValue(text, "--raw-field"));
    for (const text of flags.all("--field")) {
      const [key, value] = parseKeyValue(text, "--field");
      fields.push([key, value.startsWith("@") ? await readTextFile(value.slice(1)) : parseTyped(value)]);
    }
    return nest(fields);
  },
};

function parseTyped(text: string): Json {
  const json = parseJson(text);
  const value = json === undefined ? text : json;
  const number = typeof value === "number" || typeof value === "object" ? numberThatLosesDigits(text) : null;
  if (number === null) return value;
  const hint = typeof value === "number" ? "--raw-field sends it as text" : "write it in quotes, as text";
  throw new UsageError(`--field: ${number} has more digits than a number keeps`, { hint });
}

/** The bracket codec accepts only strings, so it gets each value's index, which is replaced afterwards. */
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
