/** Fields of operations that take a value as JSON prints it, or as it is typed on the command line. */
import * as v from "valibot";
import type { JsonObject } from "../../../contract/json.ts";
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
import { readPeriod } from "../../../runtime/calendar/periods.ts";
import { readMoment } from "../../../runtime/calendar/read-moment.ts";

interface Typed<Value> {
  /** Of a text as it is typed; null for other texts. */
  readonly read: (text: string) => Value | null;
  readonly isValue: (given: unknown) => boolean;
  /** The end of a sentence that begins with the text. */
  readonly form: string | ((text: string) => string);
  readonly json: JsonObject;
}

export function typed<Value>({ read, isValue, form, json }: Typed<Value>) {
  const toValue = (given: unknown): Value | null =>
    typeof given === "string" ? read(given) : isValue(given) ? (given as Value) : null;
  const explain = ({ input }: { readonly input: unknown }): string => {
    const text = typeof input === "string" ? input : JSON.stringify(input);
    return typeof form === "string" ? `${quoteText(text)} is not ${form}` : form(text);
  };
  return v.pipe(
    v.custom<Value | string>((given) => toValue(given) !== null, explain),
    v.transform((given) => toValue(given) as Value),
    v.metadata({ json }),
  );
}

const SECONDS: JsonObject = { type: ["integer", "string"], description: "seconds, or a duration such as 90d" };
const isSeconds = (given: unknown): boolean => Number.isSafeInteger(given) && (given as number) >= 0;

/** Until something ends or comes again. */
export const lifetime = typed<number>({
  read: (text) => only(readDuration(text), isLifetime),
  isValue: (given) => isSeconds(given) && isLifetime(given as number),
  form: (text) =>
    readDuration(text) === null
      ? `${quoteText(text)} is not ${DURATION_FORM}`
      : `${LIFETIME_FORM} (got ${quoteText(text)})`,
  json: SECONDS,
});

/** As `lifetime`, or 0 for at once. */
export const overlap = typed<number>({
  read: (text) => only(readDuration(text), (seconds) => seconds === 0 || isLifetime(seconds)),
  isValue: (given) => isSeconds(given) && (given === 0 || isLifetime(given as number)),
  form: DURATION_FORM,
  json: SECONDS,
});

export const interval = typed<number>({ read: readInterval, isValue: isSeconds, form: INTERVAL_FORM, json: SECONDS });

/** Seconds, or `off`. `read` is of another text; `isValue` of seconds. */
export function orOff(read: (text: string) => number | null, isValue: (seconds: number) => boolean, form: string) {
  return typed<number | "off">({
    read: (text) => (text.trim() === "off" ? "off" : only(read(text.trim()), isValue)),
    isValue: (given) => isSeconds(given) && isValue(given as number),
    form,
    json: { ...SECONDS, description: "seconds, a duration such as 90d, or off" },
  });
}

function only(value: number | null, isAllowed: (value: number) => boolean): number | null {
  return value !== null && isAllowed(value) ? value : null;
}

/** Names with commas between them, or a list. */
export const names = typed<readonly string[]>({
  read: (text) => unlessEmpty(text.split(",").map((name) => name.trim())),
  isValue: (given) => Array.isArray(given) && given.every((name) => typeof name === "string" && name !== ""),
  form: "names with commas between them",
  json: { type: ["array", "string"], items: { type: "string" } },
});

function unlessEmpty(all: readonly string[]): readonly string[] | null {
  return all.includes("") ? null : all;
}

/** `key=value`, a list of these, or a map. */
export const keyValues = typed<Readonly<Record<string, string>>>({
  read: (text) => readPairs([text]),
  isValue: (given) => (Array.isArray(given) ? readPairs(given) !== null : isMap(given)),
  form: "key=value",
  json: { type: ["object", "array", "string"], additionalProperties: { type: "string" }, items: { type: "string" } },
});

function readPairs(texts: readonly unknown[]): Readonly<Record<string, string>> | null {
  const pairs = texts.map((text) => (typeof text === "string" ? /^([^=]+)=(.*)$/s.exec(text) : null));
  return pairs.includes(null) ? null : Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]]));
}

function isMap(given: unknown): boolean {
  return (
    typeof given === "object" && given !== null && Object.values(given).every((value) => typeof value === "string")
  );
}

/** A range such as `0-6`, or an object. */
export function span(read: (text: string) => NumberSpan | null, form: string) {
  return typed<NumberSpan>({ read, isValue: isSpan, form, json: SPAN });
}

const SPAN: JsonObject = { type: ["string", "object"], description: "such as 0-6, or an object with from and to" };

export function isSpan(given: unknown): boolean {
  const { from, to } = (given ?? {}) as Partial<NumberSpan>;
  return Number.isInteger(from) && Number.isInteger(to);
}

/** A moment: kept as it was given until the time of the transaction is known. */
export const moment = typed<number | string>({
  read: (text) => (readTime(text, 0) === null ? null : text),
  isValue: isSeconds,
  form: "a time: Unix seconds, 2026-01-31, 2026-01-31T09:30Z, now, ago as in 7d, or from now as in +7d",
  json: { type: ["integer", "string"], description: "Unix seconds, or a time such as 2026-01-31 (UTC) or 7d for ago" },
});

/** Unix seconds; null for a text that is no time. */
export function readTime(given: string | number, now: number): number | null {
  if (typeof given === "number") return given;
  const [, sign, length] = /^(\+?)(\d+[smhdw])$/.exec(given.trim()) ?? [];
  if (length !== undefined) return now + (readDuration(length) ?? 0) * (sign === "" ? -1 : 1);
  const context = { now, zone: "UTC" };
  const at =
    given.trim() === "now" ? now : (readPeriod(given.trim(), context)?.since ?? readMoment(given.trim(), "UTC"));
  return at !== null && at >= 0 && at <= TIME_MAX ? at : null;
}
