/** Turns parameters into their final types, once, and collects every complaint before it refuses. */
import { isEmail } from "../../contract/email.ts";
import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
import { isE164 } from "../../contract/phone.ts";
import type { Properties } from "../../contract/resources.ts";
import { InvalidError } from "../domain/errors.ts";

/** Deeper maps than this are nobody's properties; the store's JSON has a limit too. */
const DEPTH_MAX = 32;
/** The end of the year 9999: what lies beyond is milliseconds. */
const TIME_MAX = 253_402_300_799;

/** Each method gives null (or the default) for what is absent, blank or wrong; `finish` refuses what was wrong. */
export interface Reader {
  /** Whether the parameter is there, be it null. */
  has(name: string): boolean;
  complain(name: string, phrase: string): void;
  text(name: string): string | null;
  email(name: string): string | null;
  phone(name: string): string | null;
  /** An id, written as text or number. */
  id(name: string): string | null;
  /** A whole number from `min` to `max`. */
  integer(name: string, range?: { readonly min?: number; readonly max?: number }): number | null;
  /** Unix seconds that bound a list. */
  timestamp(name: string): number | null;
  /** Unix seconds that are kept. */
  storedTime(name: string): number | null;
  boolean(name: string, fallback: boolean): boolean;
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | null;
  map(name: string): Properties | null;
  /** From an array, one text, or texts joined by commas. */
  list(name: string): readonly string[];
  /** Complains when it is absent; after a complaint about it, nothing more is said. */
  require(name: string, value: unknown): void;
  /** Takes over what a rule complains of. */
  check(rule: () => void): void;
  /** Throws an InvalidError with everything that was complained of. */
  finish(): void;
}

export function createReader(values: JsonObject): Reader {
  const errors: Record<string, string[]> = {};
  const value = (name: string): Json => (Object.hasOwn(values, name) ? (values[name] ?? null) : null);
  const complain = (name: string, phrase: string): void => {
    (errors[name] ??= []).push(phrase);
  };
  const refuse = (name: string, phrase: string): null => {
    complain(name, phrase);
    return null;
  };
  const text = (name: string): string | null => {
    const given = toText(value(name));
    if (given === undefined) return refuse(name, "must be text");
    return given !== null && given.includes("\0") ? refuse(name, "must not contain null characters") : given;
  };
  const matching = (name: string, isValid: (given: string) => boolean, phrase: string): string | null => {
    const given = text(name);
    return given === null || isValid(given) ? given : refuse(name, phrase);
  };
  const integer: Reader["integer"] = (name, { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = {}) => {
    const given = toInteger(value(name));
    if (given === null) return null;
    if (given === undefined) return refuse(name, wholeNumberPhrase(min, max));
    return given < min || given > max ? refuse(name, wholeNumberPhrase(min, max)) : given;
  };
  return {
    has: (name) => Object.hasOwn(values, name),
    complain,
    text,
    email: (name) => matching(name, isEmail, "is invalid"),
    phone: (name) => matching(name, isE164, "must be in E.164 format, such as +14155551212"),
    id: text,
    integer,
    timestamp: (name) => {
      const given = toInteger(value(name));
      return given === undefined ? refuse(name, "must be a Unix timestamp in whole seconds") : given;
    },
    storedTime: (name) => {
      const given = toInteger(value(name));
      const wrong = given === undefined || (given !== null && (given < 0 || given > TIME_MAX));
      return wrong ? refuse(name, "must be a Unix timestamp in whole seconds") : given;
    },
    boolean: (name, fallback) => {
      const given = toBoolean(value(name));
      if (given === undefined) complain(name, "must be true or false");
      return given ?? fallback;
    },
    choice: (name, choices) => {
      const given = text(name);
      const known = choices.find((one) => one === given);
      return given === null || known !== undefined ? (known ?? null) : refuse(name, `must be one of ${choices.join(", ")}`);
    },
    map: (name) => {
      const given = toMap(value(name));
      if (given === undefined) return refuse(name, "must be a map of names to values");
      return given === null || isStorable(given, DEPTH_MAX) ? given : refuse(name, "holds values that cannot be kept");
    },
    list: (name) => toList(value(name)),
    require: (name, given) => {
      if (given === null && errors[name] === undefined) complain(name, "can't be blank");
    },
    check: (rule) => {
      try {
        rule();
      } catch (error) {
        if (!(error instanceof InvalidError)) throw error;
        for (const [name, phrases] of Object.entries(error.errors)) errors[name] ??= [...phrases];
      }
    },
    finish: () => {
      if (Object.keys(errors).length > 0) throw new InvalidError(errors);
    },
  };
}

/** Null for what is absent or blank, undefined for what is no text. */
function toText(value: Json): string | null | undefined {
  if (value === null || value === "") return null;
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

function toInteger(value: Json): number | null | undefined {
  if (value === null || value === "") return null;
  const number = typeof value === "string" && /^[+-]?\d+$/.test(value.trim()) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : undefined;
}

function wholeNumberPhrase(min: number, max: number): string {
  if (max < Number.MAX_SAFE_INTEGER) return `must be an integer from ${min} to ${max}`;
  return min > Number.MIN_SAFE_INTEGER ? `must be an integer of at least ${min}` : "must be an integer";
}

const BOOLEANS: ReadonlyMap<Json, boolean> = new Map<Json, boolean>([
  [true, true],
  ["true", true],
  [1, true],
  ["1", true],
  [false, false],
  ["false", false],
  [0, false],
  ["0", false],
]);

function toBoolean(value: Json): boolean | null | undefined {
  if (value === null || value === "") return null;
  return BOOLEANS.get(typeof value === "string" ? value.toLowerCase() : value);
}

function toMap(value: Json): Properties | null | undefined {
  if (value === null || value === "") return null;
  // Some languages write an empty map as an empty array.
  if (Array.isArray(value) && value.length === 0) return {};
  return isJsonObject(value) ? value : undefined;
}

function isStorable(value: Json, depth: number): boolean {
  if (typeof value === "string") return !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  return Object.entries(value).every(([key, inner]) => !key.includes("\0") && isStorable(inner, depth - 1));
}

function toList(value: Json): readonly string[] {
  const items = Array.isArray(value) ? value : [value];
  return items
    .flatMap((item) => (toText(item) ?? "").split(","))
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
