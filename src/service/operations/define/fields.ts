/** Input fields of operations. They accept values as typed on the command line, or as printed in JSON. */
import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { TIME_MAX } from "../../../contract/limits.ts";
import type { NumberSpan } from "../../../contract/questions/questions.ts";
import {
  DURATION_FORM,
  INTERVAL_FORM,
  isLifetime,
  LIFETIME_FORM,
  readDuration,
  readInterval,
} from "../../../contract/text/duration.ts";
import { quoteText } from "../../../contract/text/invisible.ts";
import { readWholeNumber } from "../../../contract/text/whole-number.ts";
import { readPeriod } from "../../../runtime/calendar/periods.ts";
import { readMoment } from "../../../runtime/calendar/read-moment.ts";
import { InvalidError } from "../../domain/errors.ts";

/** Shows only the kind of lists and maps, which can have any size and depth. */
export function showInput(input: unknown): string {
  if (typeof input === "string") return quoteText(input);
  if (typeof input !== "object" || input === null) return String(input);
  return Array.isArray(input) ? "a list" : "a map";
}

/** `read` returns null for invalid values. `form` completes "… is not …", or builds the message from the value. */
export function typed<Value, Given = Value | string>(
  read: (given: unknown) => Value | null,
  form: string | ((shown: string, given: unknown) => string),
  json: JsonObject = { type: "string" },
) {
  const explain = ({ input }: { readonly input: unknown }): string => {
    const isTexts = Array.isArray(input) && input.every((each) => typeof each === "string");
    const shown = showInput(isTexts ? input.join(",") : input);
    return typeof form === "string" ? `${shown} is not ${form}` : form(shown, input);
  };
  return v.pipe(
    v.custom<Given>((given) => read(given) !== null, explain),
    v.transform((given) => read(given) as Value),
    v.metadata({ json }),
  );
}

export function fromText<Value>(read: (text: string) => Value | null): (given: unknown) => Value | null {
  return (given) => (typeof given === "string" ? read(given.trim()) : null);
}

/** For `typed`: reads strings, and numbers as seconds. */
function fromSeconds<Value>(read: (text: string) => Value | null): (given: unknown) => Value | null {
  return (given) => fromText(read)(typeof given === "number" ? `${given}s` : given);
}

function only(value: number | null, isAllowed: (value: number) => boolean): number | null {
  return value !== null && isAllowed(value) ? value : null;
}

const SECONDS: JsonObject = { type: ["integer", "string"], description: "seconds, or a duration such as 90d" };

/** Accepts 1 second to 100 years by default. */
function lasting(read: (text: string) => number | null, form: string, isAllowed = isLifetime) {
  return typed<number>(
    fromSeconds((text) => only(read(text), isAllowed)),
    (shown, given) =>
      fromSeconds(read)(given) === null ? `${shown} is not ${form}` : `${LIFETIME_FORM} (got ${shown})`,
    SECONDS,
  );
}

export const lifetime = lasting(readDuration, DURATION_FORM);
export const interval = lasting(readInterval, INTERVAL_FORM);
/** Also accepts 0, to end something immediately. */
export const overlap = lasting(readDuration, DURATION_FORM, (seconds) => seconds === 0 || isLifetime(seconds));

export function duration(read: (text: string) => number | null, isAllowed: (seconds: number) => boolean, form: string) {
  return typed<number>(
    fromSeconds((text) => only(read(text), isAllowed)),
    form,
    SECONDS,
  );
}

export function durationOrOff(...[read, isAllowed, form]: Parameters<typeof duration>) {
  return typed<number | "off">(
    fromSeconds((text) => (text === "off" ? text : only(read(text), isAllowed))),
    `${form}, or off`,
    { ...SECONDS, description: "seconds, a duration such as 90d, or off" },
  );
}

export function wholeNumber(min: number, max: number) {
  return typed<number>(
    (given) => only(readWholeNumber(String(given)), (value) => value >= min && value <= max),
    `a whole number from ${min} to ${max}`,
    { type: ["integer", "string"], minimum: min, maximum: max },
  );
}

const rowNumber = typed<number>(fromText(readWholeNumber), "the place after a page");

/** Parameters of a paginated list; `after` is the previous page's `next`. */
export const PAGE = { after: v.optional(v.nullable(rowNumber), null), limit: v.optional(wholeNumber(1, 500), 50) };

interface GivenAddress {
  readonly email: string | null;
  readonly phone_number: string | null;
}

/** Null if neither is given. Throws InvalidError if both are. */
export function eitherAddress({ email, phone_number: phone }: GivenAddress): string | null {
  if (email !== null && phone !== null)
    throw new InvalidError({ phone_number: ["cannot be used together with email"] });
  return email ?? phone;
}

/** Throws InvalidError unless exactly one of the two is given. */
export function oneAddress(given: GivenAddress): string {
  const address = eitherAddress(given)?.trim() ?? "";
  if (address === "") throw new InvalidError({ email: ["can't be blank"] });
  return address;
}

/** Anything but text becomes an empty name. */
function splitNames(given: unknown): string[] {
  const texts = [given].flat().flatMap((text) => (typeof text === "string" ? text.split(",") : [""]));
  return texts.map((text) => text.trim());
}

export const names = typed<readonly string[], readonly string[] | string>(
  (given) => (splitNames(given).includes("") ? null : splitNames(given)),
  "names with commas between them",
  { type: ["array", "string"], items: { type: "string" } },
);

/** Returns the given names in the order of `allowed`. */
export function namesAmong<Name extends string>(allowed: readonly Name[]) {
  return typed<readonly Name[], readonly string[] | string>(
    (given) => {
      const wanted = splitNames(given);
      const known = allowed.filter((name) => wanted.includes(name));
      return wanted.every((name) => known.some((each) => each === name)) ? known : null;
    },
    `one of ${allowed.join(", ")}`,
    { type: ["array", "string"], items: { enum: [...allowed] } },
  );
}

type Pairs = Readonly<Record<string, string>>;

export function isPairs(map: JsonObject): map is Record<string, string> {
  return Object.values(map).every((value) => typeof value === "string");
}

/** Accepts `key=value`, a list of such strings, or a map. */
export const keyValues = typed<Pairs, Pairs | readonly string[] | string>(
  (given) => {
    if (isJsonObject(given)) return isPairs(given) ? given : null;
    const pairs = [given].flat().map((text) => (typeof text === "string" ? /^([^=]+)=(.*)$/s.exec(text) : null));
    return pairs.includes(null) ? null : Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]]));
  },
  "key=value",
  { type: ["object", "array", "string"], additionalProperties: { type: "string" }, items: { type: "string" } },
);

function spanText(given: unknown): unknown {
  if (!isJsonObject(given)) return given;
  const { from, to } = given;
  return typeof from === "number" && typeof to === "number" ? `${from}-${to}` : null;
}

export function span(read: (text: string) => NumberSpan | null, form: string) {
  return typed<NumberSpan>((given) => fromText(read)(spanText(given)), form, {
    type: ["string", "object"],
    description: "such as 0-6, or an object with from and to",
  });
}

/** Times such as 7d are relative, so the value is a function of the transaction's time; both are Unix seconds. */
export const moment = typed<(now: number) => number, number | string>(
  (given) => {
    if (typeof given === "number") return Number.isSafeInteger(given) && given >= 0 ? () => given : null;
    const read = fromText((text) => (now: number) => readTime(text, now))(given);
    return read === null || read(0) === null ? null : (now) => read(now) ?? 0;
  },
  "a time: Unix seconds, 2026-01-31, 2026-01-31T09:30Z, now, ago as in 7d, or from now as in +7d",
  { type: ["integer", "string"], description: "Unix seconds, or a time such as 2026-01-31 (UTC) or 7d for ago" },
);

function readTime(text: string, now: number): number | null {
  if (text === "now") return now;
  const [, sign, length] = /^(\+?)(\d+[smhdw])$/.exec(text) ?? [];
  if (length !== undefined) return now + (readDuration(length) ?? 0) * (sign === "" ? -1 : 1);
  const at = readPeriod(text, { now, zone: "UTC" })?.since ?? readMoment(text, "UTC");
  return only(at, (seconds) => seconds >= 0 && seconds <= TIME_MAX);
}
