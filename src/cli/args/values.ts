/** All parsers throw a UsageError with the place, the value and the accepted forms. */
import { UsageError } from "../errors/usage-error.ts";
import { suggest } from "./suggest.ts";
import { quoteText } from "../../contract/text/invisible.ts";
import { PER_PAGE_MAX, SCORE_MAX, SCORE_MIN } from "../../contract/limits.ts";
import { DURATION_FORM, readDuration } from "../../contract/text/duration.ts";
import { readWholeNumber } from "../../contract/text/whole-number.ts";

export function badValue(place: string, text: string, expected: string, hint?: string): UsageError {
  return new UsageError(`${place}: ${quoteText(text)} is not ${expected}`, hint === undefined ? {} : { hint });
}

export function parseChoice<Choice extends string>(text: string, place: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  const nearest = suggest(text, choices);
  throw new UsageError(
    `${place}: ${quoteText(text)} is not one of ${choices.join(", ")}`,
    nearest === null ? {} : { hint: `did you mean ${nearest}?` },
  );
}

export function parseChoices<Choice extends string>(
  texts: readonly string[],
  place: string,
  choices: readonly Choice[],
): Choice[] {
  const words = texts.flatMap((text) => text.split(",")).map((word) => word.trim());
  return [...new Set(words.map((word) => parseChoice(word, place, choices)))];
}

interface IntegerRange {
  readonly min: number;
  readonly max?: number;
}

export function parseInteger(text: string, place: string, { min, max }: IntegerRange): number {
  const value = readWholeNumber(text) ?? Number.NaN;
  const inRange = Number.isSafeInteger(value) && value >= min && value <= (max ?? Infinity);
  if (inRange) return value;
  if (max !== undefined) throw badValue(place, text, `a whole number from ${min} to ${max}`);
  throw new UsageError(`${place}: must be a whole number, ${min} or more (got ${quoteText(text)})`);
}

export function integerParser(range: IntegerRange) {
  return (text: string, place: string): number => parseInteger(text, place, range);
}

export const parseCount = integerParser({ min: 1 });
export const parsePageSize = integerParser({ min: 1, max: PER_PAGE_MAX });
export const parseDailyLimit = integerParser({ min: 1, max: 999_999_999 });
export const parseScore = integerParser({ min: SCORE_MIN, max: SCORE_MAX });

const RATE = /^(\d+(?:\.\d+)?)(?:\/(s|m|h))?$/;
const PERIOD_SECONDS = { s: 1, m: 60, h: 3600 } as const;

export function parseRate(text: string, place: string): number {
  const match = RATE.exec(text.trim());
  const unit = (match?.[2] ?? "s") as keyof typeof PERIOD_SECONDS;
  const rate = match === null ? 0 : Number(match[1]) / PERIOD_SECONDS[unit];
  if (Number.isFinite(rate) && rate > 0) return rate;
  throw badValue(place, text, "a rate such as 10 (a second), 10/s or 600/m");
}

export function parseDuration(text: string, place: string): number {
  const seconds = readDuration(text);
  if (seconds !== null) return seconds;
  throw badValue(place, text, DURATION_FORM);
}

export function parseRateLimit(
  text: string,
  place: string,
): { readonly requests: number; readonly periodSeconds: number } {
  const match = /^(\d{1,9})(?:\/([smh]))?$/.exec(text.trim());
  const requests = Number(match?.[1] ?? 0);
  if (requests < 1) throw badValue(place, text, "a limit such as 10/s or 600/m");
  return { requests, periodSeconds: PERIOD_SECONDS[(match?.[2] ?? "s") as keyof typeof PERIOD_SECONDS] };
}

/** White space can come from an unset variable. */
export function parseName(text: string, place: string): string {
  if (text.trim() === "") throw new UsageError(`${place}: must not be empty`);
  return text;
}

export function parseOutputFile(text: string, place: string): string {
  if (text === "") throw new UsageError(`${place}: the file name is empty`);
  if (!/\.xls[xmb]?(?:\.gz)?$/i.test(text)) return text;
  throw new UsageError(`${place} ${text}: Excel workbooks cannot be written`, {
    hint: "use a name that ends in .csv: Excel opens that",
  });
}

export function parseKeyValue(text: string, place: string): [string, string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`${place}: ${quoteText(text)} is not key=value`);
}

export function parseNames(texts: readonly string[], place: string): string[] {
  const names = texts.flatMap((text) => text.split(",")).map((name) => name.trim());
  if (names.includes(""))
    throw new UsageError(`${place}: ${quoteText(texts.join(","))} holds an empty name; write name,name`);
  return names;
}
