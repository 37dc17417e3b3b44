import { realpath } from "node:fs/promises";
import { TIME_MAX } from "../../contract/limits.ts";
import { type Near, readDayTime } from "../../runtime/calendar/day-time.ts";
import { type PeriodRange, readPeriod } from "../../runtime/calendar/periods.ts";
import { readMoment } from "../../runtime/calendar/read-moment.ts";
import { readDuration } from "../../contract/text/duration.ts";
import { badValue } from "./values.ts";

export interface TimeContext {
  readonly now: number;
  readonly zone: string | null;
}

/** Whether a date or period stands for its first or its last second. */
export type DayEdge = "first" | "last";

export const TIME_FORMS =
  "a time: Unix seconds, 2026-01-31, 2026-01-31T09:30[:00][Z|+02:00], 2026-01, 2026-Q1, now, today, monday 9:00, " +
  "last-month, ago as in 90m, 24h, 7d, 2w, or from now as in +7d";
const PERIOD_FORMS =
  "a period such as 2026-05, 2026-Q1, 2026-W05, 2026, 2026-05-31, yesterday, this-week, last-month or next-week";
const DELAY_FORMS = "a duration such as 90 (seconds), 90s, 15m, 2h, 1d or 2w, tomorrow 9:00, or a later time";

const AGO = /^\d+[smhdw]$/;
const WORDS_AGO = /^(\d+)\s+(?:(s)econd|(m)inute|(h)our|(d)ay|(w)eek)s?\s+ago$/;
const FROM_NOW = /^\+\d+[smhdw]$/;
const DAY_OF_DIGITS = /^((?:19|20)\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/;
const SLASHES = /^(\d{4})\/(\d{2})\/(\d{2})$/;
/** The only periods accepted in an imported cell. A month there is probably a date that lost its day. */
const DAY = /^(?:today|yesterday)$/i;

/** Returns Unix seconds. `monday` is the most recent one. Throws UsageError. */
export function parseTime(text: string, place: string, context: TimeContext, edge: DayEdge = "first"): number {
  const word = text.trim();
  const seconds = inRange(readFromNow(word, context) ?? readPoint(word, context, { edge, near: "past" }));
  if (seconds !== null) return seconds;
  const [digits, year, month, day] = DAY_OF_DIGITS.exec(word) ?? [];
  const forms = `a time: as Unix seconds it is in 1970; write ${year}-${month}-${day}`;
  throw badValue(place, text, digits === undefined ? TIME_FORMS : forms);
}

/** Parses a cell of an imported file. */
export function readTimeOrNull(text: string, context: TimeContext): number | null {
  const word = text.trim();
  if (DAY.test(word)) return inRange(readEdge(word, context, START));
  return inRange(readWord(word, context) ?? readMoment(word, context.zone));
}

export function parsePeriod(text: string, place: string, context: TimeContext): PeriodRange {
  const period = readPeriod(text.trim(), context);
  if (period !== null && inRange(period.since) !== null && inRange(period.until) !== null) return period;
  throw badValue(place, text, PERIOD_FORMS);
}

export function parseDelay(text: string, place: string, context: TimeContext): number {
  const duration = readDuration(text);
  if (duration !== null) return duration;
  return parseFutureTime(text, place, context, DELAY_FORMS) - context.now;
}

/** Returns Unix seconds. `monday` is the next one. Throws UsageError, also for a time in the past. */
export function parseFutureTime(text: string, place: string, context: TimeContext, forms = TIME_FORMS): number {
  const word = text.trim();
  const seconds = inRange(readFromNow(word, context) ?? readPoint(word, context, NEXT_START));
  if (seconds === null) throw badValue(place, text, forms);
  if (seconds >= context.now) return seconds;
  throw badValue(place, text, AGO.test(word) ? `a time in the future: write +${word}` : "a time in the future");
}

/**
 * Parses a cell of an imported file. "tomorrow" is relative to the context's `now`, but the seconds are counted from
 * `from`, so that a resumed run computes the same moment.
 */
export function readDelayOrNull(text: string, context: TimeContext, from: number): number | null {
  const duration = readDuration(text);
  if (duration !== null) return duration;
  const word = text.trim();
  const moment = /^tomorrow\b/i.test(word) ? readEdge(word, context, NEXT_START) : readTimeOrNull(word, context);
  return moment === null || moment < context.now ? null : Math.max(0, moment - from);
}

function inRange(seconds: number | null): number | null {
  return seconds !== null && seconds >= 0 && seconds <= TIME_MAX ? seconds : null;
}

function readFromNow(text: string, { now }: TimeContext): number | null {
  const word = text.toLowerCase();
  return FROM_NOW.test(word) ? now + (readDuration(word.slice(1)) ?? Infinity) : null;
}

interface DayChoice {
  readonly edge: DayEdge;
  readonly near: Near;
}

const START: DayChoice = { edge: "first", near: "past" };
const NEXT_START: DayChoice = { edge: "first", near: "future" };

function readPoint(text: string, context: TimeContext, choice: DayChoice): number | null {
  return readWord(text, context) ?? readEdge(text, context, choice) ?? readMoment(text, context.zone);
}

function readWord(text: string, { now }: TimeContext): number | null {
  const word = text.toLowerCase().replace(WORDS_AGO, "$1$2$3$4$5$6");
  if (word === "now") return now;
  return AGO.test(word) ? now - (readDuration(word) ?? Infinity) : null;
}

function readEdge(text: string, context: TimeContext, { edge, near }: DayChoice): number | null {
  const period = readPeriod(text.replace(SLASHES, "$1-$2-$3"), context) ?? readDayTime(text, context, near);
  if (period === null) return null;
  return edge === "first" ? period.since : period.until;
}

export function parseZone(text: string, place: string): string {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw badValue(place, text, "a time zone such as UTC, Europe/Berlin or America/New_York");
  }
}

/**
 * Rewrites `TZ`, because Node reads an empty value as UTC and ignores daylight saving time for a path. Throws
 * UsageError for an unknown zone, which Node would read as UTC.
 */
export async function settleZone(env: Record<string, string | undefined>): Promise<void> {
  const name = env["TZ"]?.replace(/^:/, "");
  if (name === undefined || name === "UTC") return;
  if (["", "localtime", "/etc/localtime"].includes(name)) {
    delete env["TZ"];
    return;
  }
  const place = name.startsWith("/") ? await realpath(name).catch(() => name) : name;
  const zone = parseZone(place.replace(/^.*\/zoneinfo\/(?:posix\/|right\/)?/, ""), "TZ");
  if (zone !== env["TZ"]) env["TZ"] = zone;
}
