/** JSON as TypeScript sees it. */
export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** True for a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A property's value as text; null where there is no such property, or nothing in it. */
export function propertyText(properties: Json | undefined, name: string): string | null {
  const value = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (value === undefined || value === null || value === "") return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Undefined for text that is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Null for text that is not a JSON object. */
export function parseJsonObject(text: string): JsonObject | null {
  const value = parseJson(text);
  return isJsonObject(value) ? value : null;
}

/** The first number of a JSON text that would be another one after it is parsed; null when none would. */
export function numberThatLosesDigits(json: string): string | null {
  if (!/\d{16}|\de\+?\d{3}/i.test(json)) return null;
  const tokens = json.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g) ?? [];
  return tokens.find(losesDigits) ?? null;
}

/** Whole numbers alone: a fraction is never exact. */
function losesDigits(token: string): boolean {
  if (token.startsWith('"')) return false;
  return /^-?\d+$/.test(token) ? BigInt(token) !== BigInt(Number(token)) : !Number.isFinite(Number(token));
}
