export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function propertyText(properties: Json | undefined, name: string): string | null {
  const value = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (value === undefined || value === null || value === "") return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Text as it is, other values as JSON; empty for null and undefined. */
export function plainText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export function parseJsonObject(text: string): JsonObject | null {
  const value = parseJson(text);
  return isJsonObject(value) ? value : null;
}

/** The first number that parsing would change, or null. */
export function numberThatLosesDigits(json: string): string | null {
  if (!/\d{16}|\de\+?\d{3}/i.test(json)) return null;
  const tokens = json.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g) ?? [];
  return tokens.find(losesDigits) ?? null;
}

/** Integers only: fractions are never exact anyway. */
function losesDigits(token: string): boolean {
  if (token.startsWith('"')) return false;
  return /^-?\d+$/.test(token) ? BigInt(token) !== BigInt(Number(token)) : !Number.isFinite(Number(token));
}
