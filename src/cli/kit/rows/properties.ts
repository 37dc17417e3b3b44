import { type Json, type JsonObject, propertyText } from "../../../contract/json.ts";
import { badValue, parseKeyValue } from "../../args/values.ts";
import type { FlagSpec } from "../flag-spec.ts";

export const COMPARISONS = {
  "=": (a: number, b: number) => a === b,
  "!=": (a: number, b: number) => a !== b,
  ">=": (a: number, b: number) => a >= b,
  "<=": (a: number, b: number) => a <= b,
  ">": (a: number, b: number) => a > b,
  "<": (a: number, b: number) => a < b,
} as const;

export type PropertyCondition = readonly [key: string, value: string, comparison?: keyof typeof COMPARISONS];

export const PROPERTY_FILTER_FLAG = {
  flag: "--property",
  value: "key=value",
  text: "only with this property; !=, >=, <=, > and < work too; several values of one key are alternatives",
  repeatable: true,
  parse: parseCondition,
} as const satisfies FlagSpec;

export function parseCondition(text: string, place: string): PropertyCondition {
  const [, key = "", comparison = "=", value = ""] = /^([^=]+?)(!=|>=|<=|>|<)(.*)$/su.exec(text) ?? [];
  if (comparison === "=") return parseKeyValue(text, place);
  if (comparison !== "!=" && toNumber(value.trim()) === null)
    throw badValue(place, text, `a comparison of numbers, as in '${key.trim()}${comparison}3'`);
  return [key.trim(), value.trim(), comparison as keyof typeof COMPARISONS];
}

/** One condition of each group must match. Equality conditions on the same key form one group. */
export function groupConditions(conditions: readonly PropertyCondition[]): readonly (readonly PropertyCondition[])[] {
  const equal = conditions.filter(([, , comparison = "="]) => comparison === "=");
  const keys = [...new Set(equal.map(([key]) => key))];
  const others = conditions.filter((condition) => !equal.includes(condition));
  return [...keys.map((key) => equal.filter(([name]) => name === key)), ...others.map((condition) => [condition])];
}

export function propertyTests(
  conditions: readonly PropertyCondition[],
  map: string,
): readonly ((row: JsonObject) => boolean)[] {
  return groupConditions(conditions).map(
    (group) => (row) => group.some((condition) => meets(propertyOf(row, map, condition[0]), condition)),
  );
}

export function meets(actual: string | null, [, wanted, comparison = "="]: PropertyCondition): boolean {
  const [left, right] = [toNumber(actual ?? ""), toNumber(wanted)];
  if (left !== null && right !== null) return COMPARISONS[comparison](left, right);
  const isSame = (actual ?? "") === wanted;
  return comparison === "!=" ? !isSame : comparison === "=" && isSame;
}

/** Null for text that looks like an id: leading zeros, or more digits than a number can hold. */
function toNumber(text: string): number | null {
  const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : null;
}

/** Stored properties of a response's person are kept outside the row, so that they aren't printed. */
const STORED = new WeakMap<JsonObject, Json>();

export function attachStored(row: JsonObject, properties: Json | undefined): void {
  if (properties !== undefined) STORED.set(row, properties);
}

export function storedWith(row: JsonObject): Json | undefined {
  return STORED.get(row);
}

export function propertyOf(row: JsonObject, map: string, name: string): string | null {
  return propertyText(row[map], name) ?? propertyText(storedWith(row), name);
}
