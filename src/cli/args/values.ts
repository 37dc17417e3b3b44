/** Parsers of single values: each throws a UsageError with the place, the value and the accepted forms. */
import { UsageError } from "../errors/usage-error.ts";
import { suggest } from "./suggest.ts";
import { quoteText } from "../../contract/text/invisible.ts";
import { DURATION_MAX, SCORE_MAX, SCORE_MIN } from "../../contract/limits.ts";
import { readScoreSpan, type ScoreSpan } from "../../contract/text/score-span.ts";
import { readWholeNumber } from "../../contract/text/whole-number.ts";

export function badValue(place: string, text: string, expected: string, hint?: string): UsageError {
  return new UsageError(`${place}: ${quoteText(text)} is not ${expected}`, hint === undefined ? {} : { hint });
}

/** One of a closed list. Throws UsageError with the list and the nearest of it. */
export function parseChoice<Choice extends string>(text: string, place: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  const nearest = suggest(text, choices);
  throw new UsageError(
    `${place}: ${quoteText(text)} is not one of ${choices.join(", ")}`,
    nearest === null ? {} : { hint: `did you mean ${nearest}?` },
  );
}

/** Several of a closed list, with commas or repeated; each once, in the order given. */
export function parseChoices<Choice extends string>(
  texts: readonly string[],
  place: string,
  choices: readonly Choice[],
): Choice[] {
  const words = texts.flatMap((text) => text.split(",")).map((word) => word.trim());
  return [...new Set(words.map((word) => parseChoice(word, place, choices)))];
}

export interface IntegerRange {
  readonly min: number;
  readonly max?: number;
}

/** A whole number in decimal digits. Throws UsageError. */
export function parseInteger(text: string, place: string, { min, max }: IntegerRange): number {
  const value = readWholeNumber(text) ?? Number.NaN;
  const inRange = Number.isSafeInteger(value) && value >= min && value <= (max ?? Infinity);
  if (inRange) return value;
  if (max !== undefined) throw badValue(place, text, `a whole number from ${min} to ${max}`);
  throw new UsageError(`${place}: must be a whole number, ${min} or more (got ${quoteText(text)})`);
}

/** A whole number, 1 or more. Throws UsageError. */
export function parseCount(text: string, place: string): number {
  return parseInteger(text, place, { min: 1 });
}

const DAILY_LIMIT_MAX = 999_999_999;

/** Surveys and reminders that may leave in one day. Throws UsageError. */
export function parseDailyLimit(text: string, place: string): number {
  return parseInteger(text, place, { min: 1, max: DAILY_LIMIT_MAX });
}

/** A score, section 4.4. Throws UsageError. */
export function parseScore(text: string, place: string): number {
  return parseInteger(text, place, { min: SCORE_MIN, max: SCORE_MAX });
}

/** `0-6`, or one score. Throws UsageError. */
export function parseScoreSpan(text: string, place: string): ScoreSpan {
  const span = readScoreSpan(text);
  if (span === null) throw badValue(place, text, `a score or a range of scores, from 0 to ${SCORE_MAX}, such as 0-6`);
  return span;
}

const RATE = /^(\d+(?:\.\d+)?)(?:\/(s|m|h))?$/;
/** The units that a rate may be counted by. */
const PERIOD_SECONDS = { s: 1, m: 60, h: 3600 } as const;

/** Requests a second: `10`, `10/s`, `600/m`. Throws UsageError. */
export function parseRate(text: string, place: string): number {
  const match = RATE.exec(text.trim());
  const unit = (match?.[2] ?? "s") as keyof typeof PERIOD_SECONDS;
  const rate = match === null ? 0 : Number(match[1]) / PERIOD_SECONDS[unit];
  if (Number.isFinite(rate) && rate > 0) return rate;
  throw badValue(place, text, "a rate such as 10 (a second), 10/s or 600/m");
}

const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
const DURATION = /^(\d+)([smhdw])?$/;

/** Seconds: `90`, `90s`, `15m`, `2h`, `1d`, `2w`. Throws UsageError. */
export function parseDuration(text: string, place: string): number {
  const seconds = readDuration(text);
  if (seconds !== null) return seconds;
  throw badValue(place, text, "a duration such as 90 (seconds), 90s, 15m, 2h, 1d or 2w");
}

/** Seconds after which something ends or comes again, from 1 second to 100 years. Throws UsageError. */
export function parseLifetime(text: string, place: string): number {
  const seconds = parseDuration(text, place);
  if (seconds >= 1 && seconds <= DURATION_MAX) return seconds;
  throw new UsageError(`${place}: must be from 1 second to 100 years (got ${quoteText(text)})`);
}

/** The same without an error: null when the text is not a duration. */
export function readDuration(text: string): number | null {
  const match = DURATION.exec(text.trim());
  if (match === null) return null;
  const seconds = Number(match[1]) * UNIT_SECONDS[(match[2] ?? "s") as keyof typeof UNIT_SECONDS];
  return Number.isSafeInteger(seconds) ? seconds : null;
}

/** The form of `readInterval`. */
export const INTERVAL_FORM = "a duration with a unit, such as 90d or 12h";

/**
 * Seconds of the time between two surveys of a person; null for a number alone that is less than a day: it is meant as
 * days, and as seconds would mail everybody at once.
 */
export function readInterval(text: string): number | null {
  const seconds = readDuration(text);
  const isMeantAsDays = /^\d+$/.test(text.trim()) && seconds !== 0 && (seconds ?? 0) < UNIT_SECONDS.d;
  return isMeantAsDays ? null : seconds;
}

/** Seconds in the largest unit that they are a whole number of: `90d`, `36h`, `90s`. */
export function formatDuration(seconds: number): string {
  const unit = (["d", "h", "m"] as const).find((each) => seconds > 0 && seconds % UNIT_SECONDS[each] === 0) ?? "s";
  return `${seconds / UNIT_SECONDS[unit]}${unit}`;
}

export interface RequestLimit {
  readonly requests: number;
  readonly periodSeconds: number;
}

/** A limit of requests: `10/s`, `600/m`, `5000/h`; a number alone is a second's. Throws UsageError. */
export function parseRateLimit(text: string, place: string): RequestLimit {
  const match = /^(\d{1,9})(?:\/([smh]))?$/.exec(text.trim());
  const requests = Number(match?.[1] ?? 0);
  if (requests < 1) throw badValue(place, text, "a limit such as 10/s or 600/m");
  return { requests, periodSeconds: PERIOD_SECONDS[(match?.[2] ?? "s") as keyof typeof PERIOD_SECONDS] };
}

/** A name to be stored, or an id. Throws UsageError for white space alone, as an unset variable gives it. */
export function parseName(text: string, place: string): string {
  if (text.trim() === "") throw new UsageError(`${place}: must not be empty`);
  return text;
}

/** The name of a file that is written as text. Throws UsageError for an empty one, and for a workbook's. */
export function parseOutputFile(text: string, place: string): string {
  if (text === "") throw new UsageError(`${place}: the file name is empty`);
  if (!/\.xls[xmb]?(?:\.gz)?$/i.test(text)) return text;
  throw new UsageError(`${place} ${text}: Excel workbooks cannot be written`, {
    hint: "use a name that ends in .csv: Excel opens that",
  });
}

/** `key=value`; the value may be empty and hold further `=`. Throws UsageError. */
export function parseKeyValue(text: string, place: string): [string, string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`${place}: ${quoteText(text)} is not key=value`);
}

/** Names with commas between them, or the flag repeated. Throws UsageError when one is empty. */
export function parseNames(texts: readonly string[], place: string): string[] {
  const names = texts.flatMap((text) => text.split(",")).map((name) => name.trim());
  if (names.includes(""))
    throw new UsageError(`${place}: ${quoteText(texts.join(","))} holds an empty name; write name,name`);
  return names;
}
