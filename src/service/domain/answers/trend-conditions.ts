import type { Properties } from "../../../contract/resources.ts";

/** Whether each of these properties has, as text, this value. */
export function meetsConditions(properties: Properties, where: Readonly<Record<string, string>>): boolean {
  return Object.entries(where).every(
    ([key, value]) => Object.hasOwn(properties, key) && toText(properties[key]) === value,
  );
}

/** Null for null, which is no value. */
function toText(value: unknown): string | null {
  if (value === null || typeof value === "string") return value;
  return JSON.stringify(value);
}
