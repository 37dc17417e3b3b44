/** `--property key=value` as a filter: of several values of one key any fits, and all keys have to fit. */
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";

/** One test for each key; `map` is the field that holds a row's properties. */
export function propertyTests(
  pairs: readonly (readonly [key: string, value: string])[],
  map: string,
): readonly ((row: JsonObject) => boolean)[] {
  return [...new Set(pairs.map(([key]) => key))].map((key) => {
    const values = new Set<string | null>(pairs.filter(([name]) => name === key).map(([, value]) => value));
    return (row) => values.has(propertyOf(row, map, key));
  });
}

function propertyOf(row: JsonObject, map: string, key: string): string | null {
  const properties = row[map];
  const value = isJsonObject(properties) && Object.hasOwn(properties, key) ? properties[key] : null;
  if (value === null || value === undefined) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}
