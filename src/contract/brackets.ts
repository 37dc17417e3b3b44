/** Bracketed parameters (section 1): maps as `properties[key]=value`, arrays as repeated `name[]=value`. */
import { isJsonObject, type Json, type JsonObject } from "./json.ts";

/**
 * If a plain name is repeated, the last one wins. `a[k][l]` and `a[k][]` are a map and an array inside the map `a`. In
 * a JSON body, `a[k]` extends a preceding map `a`, and values can have any type.
 */
export function parseBracketPairs(pairs: Iterable<readonly [string, Json]>): JsonObject {
  const result = emptyMap();
  for (const [name, value] of pairs) addPair(result, name, value);
  return result;
}

function addPair(result: JsonObject, name: string, value: Json): void {
  const match = /^([^[\]]+)\[([^\]]*)\](.*)$/s.exec(name);
  if (match === null) {
    result[name] = value;
    return;
  }
  const [, base = "", key = "", rest = ""] = match;
  const existing = result[base];
  if (key === "" && rest === "") {
    result[base] = appended(existing, value);
    return;
  }
  const map = isJsonObject(existing) ? withoutPrototype(existing) : emptyMap();
  result[base] = map;
  if (key !== "" && NESTED.test(rest)) addNested(map, [key, ...rest.slice(1, -1).split("][")], value);
  // Property names may themselves contain brackets ("a[b]c").
  else map[`${key}${rest === "" ? "" : `]${rest.replace(/\]$/, "")}`}`] = value;
}

const NESTED = /^(?:\[[^[\]]*\])+$/;

function addNested(outermost: JsonObject, names: readonly string[], value: Json): void {
  const isList = names.at(-1) === "";
  const path = isList ? names.slice(0, -1) : names;
  let map = outermost;
  for (const name of path.slice(0, -1)) {
    const inner = map[name];
    map = map[name] = isJsonObject(inner) ? withoutPrototype(inner) : emptyMap();
  }
  const last = path.at(-1) ?? "";
  if (isList) map[last] = appended(map[last], value);
  else map[last] = value;
}

function appended(existing: Json | undefined, value: Json): Json[] {
  const list = Array.isArray(existing) ? existing : [];
  for (const item of Array.isArray(value) ? value : [value]) list.push(item);
  return list;
}

/** No prototype, so `__proto__` is an ordinary key. */
function emptyMap(): JsonObject {
  return Object.create(null) as JsonObject;
}

function withoutPrototype(map: JsonObject): JsonObject {
  return Object.getPrototypeOf(map) === null ? map : Object.assign(emptyMap(), map);
}

export type QueryValue = Json | undefined;

export function toBracketPairs(parameters: Readonly<Record<string, QueryValue>>): [string, string][] {
  return Object.entries(parameters).flatMap(([name, value]): [string, string][] => {
    if (value === null || value === undefined) return [];
    if (Array.isArray(value)) return value.map((item) => [`${name}[]`, scalarText(item)]);
    if (typeof value === "object")
      return Object.entries(value).map(([key, item]) => [`${name}[${key}]`, scalarText(item)]);
    return [[name, scalarText(value)]];
  });
}

function scalarText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function formatQuery(parameters: Readonly<Record<string, QueryValue>>): string {
  return toBracketPairs(parameters)
    .map(([name, value]) => `${encodeName(name)}=${encodeURIComponent(value)}`)
    .join("&");
}

function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll("%5B", "[").replaceAll("%5D", "]");
}
