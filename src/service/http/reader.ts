import { isEmail } from "../../contract/text/email.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../contract/json.ts";
import {
  characterCount,
  NAME_MAX,
  PROPERTIES_BYTES_MAX,
  TAGS_MAX,
  TEXT_BYTES_MAX,
  TIME_MAX,
} from "../../contract/limits.ts";
import { parseWithAllDigits } from "../../contract/long-numbers.ts";
import { isE164 } from "../../contract/text/phone.ts";
import { isStorableJson, isStorableText } from "../../contract/text/storable.ts";
import type { Properties } from "../../contract/resources.ts";
import { InvalidError } from "../domain/errors.ts";

const TEXT_PHRASE = "must be valid Unicode text";
const TIME_PHRASE = "must be a Unix timestamp in whole seconds";

/** Methods return null (or a default) for a missing, blank or invalid value; `finish` throws all problems. */
export class Reader {
  readonly #values: JsonObject;
  #errors: Record<string, string[]> | null = null;

  constructor(values: JsonObject) {
    this.#values = values;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#values, name);
  }

  complain(name: string, phrase: string): void {
    this.#errors ??= {};
    (this.#errors[name] ??= []).push(phrase);
  }

  isWrong(name: string): boolean {
    return this.#errors?.[name] !== undefined;
  }

  /** Reports a missing value, unless its parameter already has a problem; `finish` then throws. */
  required<Value>(name: string, given: Value | null, instead: Value): Value {
    if (given === null && !this.isWrong(name)) this.complain(name, "can't be blank");
    return given ?? instead;
  }

  check(rule: () => void): void {
    try {
      rule();
    } catch (error) {
      this.#takeOver(error);
    }
  }

  /** If other problems are known, also checks this rule, so that one response names them all. */
  async checkAlso(name: string, rule: () => Promise<unknown>): Promise<void> {
    if (this.#errors !== null && !this.isWrong(name)) await rule().catch((error: unknown) => this.#takeOver(error));
  }

  #takeOver(error: unknown): void {
    if (!(error instanceof InvalidError)) throw error;
    for (const [name, phrases] of Object.entries(error.errors))
      for (const phrase of phrases) this.complain(name, phrase);
  }

  finish(): void {
    if (this.#errors !== null) throw new InvalidError(this.#errors);
  }

  text(name: string): string | null {
    const given = toText(this.#value(name));
    if (given === undefined) return this.#refuse(name, "must be text");
    if (given === null) return null;
    if (given.includes("\0")) return this.#refuse(name, "must not contain null characters");
    return isStorableText(given) ? given : this.#refuse(name, TEXT_PHRASE);
  }

  name(name: string): string | null {
    const phrase = `is too long (maximum is ${NAME_MAX} characters)`;
    return this.#checked(name, (given) => characterCount(given) <= NAME_MAX, phrase);
  }

  longText(name: string): string | null {
    const phrase = `is too long (maximum is ${TEXT_BYTES_MAX} bytes)`;
    return this.#checked(name, (given) => Buffer.byteLength(given) <= TEXT_BYTES_MAX, phrase);
  }

  /** A string to filter by. A value that no row can have matches nothing. */
  filter(name: string): string | null {
    if (!this.has(name)) return null;
    const given = toText(this.#value(name));
    if (given === undefined) return this.#refuse(name, "must be text");
    return given === null || !isStorableText(given) ? "" : given;
  }

  email(name: string): string | null {
    return this.#checked(name, isEmail, "is invalid");
  }

  phone(name: string): string | null {
    return this.#checked(name, isE164, "must be in E.164 format, such as +14155551212");
  }

  limited(
    name: string,
    { min, limit, fallback }: { readonly min: number; readonly limit: number; readonly fallback: number },
  ): number {
    if (!this.has(name)) return fallback;
    const given = toInteger(this.#value(name));
    if (given === null || given === undefined || given < min) {
      this.complain(name, wholeNumberPhrase(min, Number.MAX_SAFE_INTEGER));
      return fallback;
    }
    return Math.min(given, limit);
  }

  integer(
    name: string,
    { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number },
  ): number | null {
    const given = toInteger(this.#value(name));
    if (given === null) return null;
    return given === undefined || given < min || given > max ? this.#refuse(name, wholeNumberPhrase(min, max)) : given;
  }

  timestamp(name: string): number | null {
    const given = toInteger(this.#value(name));
    return given === undefined ? this.#refuse(name, TIME_PHRASE) : given;
  }

  /** A time to store, in Unix seconds. */
  storedTime(name: string): number | null {
    const given = this.timestamp(name);
    return given !== null && (given < 0 || given > TIME_MAX) ? this.#refuse(name, TIME_PHRASE) : given;
  }

  /** A blank value is an error, because scripts send it for an empty variable. */
  boolean(name: string, fallback: boolean): boolean {
    if (!this.has(name)) return fallback;
    const value = this.#value(name);
    const given = typeof value === "string" ? value.toLowerCase() : value;
    if (TRUE.has(given) || FALSE.has(given)) return TRUE.has(given);
    this.complain(name, "must be true or false");
    return fallback;
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | null {
    const given = this.text(name);
    if (given === null) return null;
    return choices.find((one) => one === given) ?? this.#refuse(name, `must be one of ${choices.join(", ")}`);
  }

  map(name: string): Properties | null {
    const given = toMap(this.#value(name));
    if (given === undefined) return this.#refuse(name, "must be a map of names to values");
    if (given === null) return null;
    if (!isStorableJson(given)) return this.#refuse(name, "holds values that cannot be kept");
    return Buffer.byteLength(JSON.stringify(given)) <= PROPERTIES_BYTES_MAX
      ? given
      : this.#refuse(name, `is too large (maximum is ${PROPERTIES_BYTES_MAX} bytes)`);
  }

  maps(name: string, max: number): readonly JsonObject[] {
    const value = this.#value(name);
    if (Array.isArray(value) && value.length <= max && value.every(isJsonObject)) return value;
    this.complain(name, `must be an array of ${max} maps at most`);
    return [];
  }

  /** Accepts an array, or the JSON text of one. */
  array(name: string): readonly Json[] | null {
    const value = this.#value(name);
    if (value === null || value === "") return null;
    const given = typeof value === "string" ? parseJson(value) : value;
    if (!Array.isArray(given)) return this.#refuse(name, "must be an array");
    return isStorableJson(given) ? given : this.#refuse(name, "holds values that cannot be kept");
  }

  isText(name: string): boolean {
    const value = this.#value(name);
    return typeof value === "string" && value !== "";
  }

  tags(name: string): readonly string[] | null {
    const value = this.#value(name);
    if (!this.has(name) || value === null) return null;
    const texts = typeof value === "string" ? value.split(",").map((text) => text.trim()) : toItems(value).map(toText);
    if (texts.includes(undefined)) return this.#refuse(name, "must be a list of texts");
    const tags = [...new Set(texts)].filter((tag): tag is string => typeof tag === "string" && tag !== "");
    if (tags.length > TAGS_MAX) return this.#refuse(name, `are too many (maximum is ${TAGS_MAX})`);
    if (!tags.every(isStorableText)) return this.#refuse(name, TEXT_PHRASE);
    return tags.every((tag) => characterCount(tag) <= NAME_MAX)
      ? tags
      : this.#refuse(name, `are too long (maximum is ${NAME_MAX} characters)`);
  }

  /** Accepts an array, a string, or a comma-separated string. */
  list(name: string): readonly string[] {
    const given = this.#value(name);
    return given === null ? [] : toList(given);
  }

  #checked(name: string, isValid: (text: string) => boolean, phrase: string): string | null {
    const given = this.text(name);
    return given === null || isValid(given) ? given : this.#refuse(name, phrase);
  }

  #value(name: string): Json {
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? null) : null;
  }

  #refuse(name: string, phrase: string): null {
    this.complain(name, phrase);
    return null;
  }
}

/** Null if missing or blank; undefined if not a string. */
function toText(value: Json): string | null | undefined {
  if (value === null || value === "") return null;
  if (typeof value === "string") return value;
  if (typeof value === "number" && !Number.isFinite(value)) return undefined;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

function toInteger(value: Json): number | null | undefined {
  if (value === null || value === "") return null;
  const number = typeof value === "string" && /^[+-]?\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || (!Number.isInteger(number) && Math.abs(number) !== Infinity)) return undefined;
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(number, Number.MAX_SAFE_INTEGER));
}

function wholeNumberPhrase(min: number, max: number): string {
  if (max < Number.MAX_SAFE_INTEGER) return `must be an integer from ${min} to ${max}`;
  return min > Number.MIN_SAFE_INTEGER ? `must be an integer of at least ${min}` : "must be an integer";
}

const TRUE: ReadonlySet<Json> = new Set<Json>([true, "true", 1, "1"]);
const FALSE: ReadonlySet<Json> = new Set<Json>([false, "false", 0, "0"]);

function toMap(value: Json): Properties | null | undefined {
  if (value === null || value === "") return null;
  // Some languages serialize an empty map as an empty array.
  if (Array.isArray(value) && value.length === 0) return {};
  if (isJsonObject(value)) return value;
  // Queries and forms can contain JSON.
  return typeof value === "string" && value.startsWith("{") ? parseMap(value) : undefined;
}

function parseMap(text: string): Properties | undefined {
  try {
    const value = parseWithAllDigits(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Some languages serialize an array as a map from index to item. */
function toItems(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) && Object.keys(value).every((key) => /^\d+$/.test(key)) ? Object.values(value) : [value];
}

function toList(value: Json): readonly string[] {
  return toItems(value)
    .flatMap((item) => (toText(item) ?? "").split(","))
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
