/** Times as people write them (design: "Times on input"), to Unix seconds. */
import { TIME_MAX } from "../../contract/limits.ts";
import { createWallClock, firstSecondOf, toCalendarDay, toMoment, type CalendarDay } from "../../runtime/zone.ts";
import { badValue } from "./bad-value.ts";
import { readDuration } from "./duration.ts";

export interface TimeContext {
  /** Unix seconds. */
  readonly now: number;
  /** IANA zone; null is the system's. */
  readonly zone: string | null;
}

/** What a date without a time of day means: its first second or its last. */
export type DayEdge = "first" | "last";

export const TIME_FORMS =
  "a time: Unix seconds, 2026-01-31, 2026-01-31T09:30[:00][Z|+02:00], now, today, yesterday, or ago as in 90m, 24h, 7d, 2w";

const AGO = /^\d+[smhdw]$/;
const UNIX = /^-?\d+$/;
const DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,]\d+)?)?\s*(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/i;

/** Throws UsageError that names the place and the accepted forms. */
export function parseTime(text: string, place: string, context: TimeContext, edge: DayEdge = "first"): number {
  const seconds = readTimeOrNull(text, context, edge);
  if (seconds !== null) return seconds;
  throw badValue(place, text, TIME_FORMS);
}

/** The same without a judgement: null when the text is no time. */
export function readTimeOrNull(text: string, context: TimeContext, edge: DayEdge = "first"): number | null {
  const seconds = readTime(text.trim(), context, edge);
  return seconds !== null && seconds >= 0 && seconds <= TIME_MAX ? seconds : null;
}

function readTime(text: string, context: TimeContext, edge: DayEdge): number | null {
  const word = text.toLowerCase();
  if (UNIX.test(word)) return Number(word);
  if (word === "now") return context.now;
  if (AGO.test(word)) return context.now - (readDuration(word) ?? Infinity);
  if (word === "today") return edgeOfDay(dayOf(context, 0), context, edge);
  if (word === "yesterday") return edgeOfDay(dayOf(context, -1), context, edge);
  return readDate(text, context, edge);
}

function dayOf({ now, zone }: TimeContext, offset: number): CalendarDay {
  const today = toCalendarDay(createWallClock(zone)(now));
  return { ...today, day: today.day + offset };
}

function edgeOfDay(day: CalendarDay, { zone }: TimeContext, edge: DayEdge): number {
  const wallClock = createWallClock(zone);
  if (edge === "first") return firstSecondOf(day, wallClock);
  return firstSecondOf({ ...day, day: day.day + 1 }, wallClock) - 1;
}

function readDate(text: string, context: TimeContext, edge: DayEdge): number | null {
  const match = DATE.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0] = match.slice(1, 4).map(Number);
  if (!isRealDay({ year, month, day })) return null;
  if (match[4] === undefined) return edgeOfDay({ year, month, day }, context, edge);
  const [hour = 0, minute = 0, second = 0] = match.slice(4, 7).map((part) => Number(part ?? 0));
  const wall = Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
  return match[7] === undefined ? toMoment(wall, createWallClock(context.zone)) : wall - readOffset(match[7]);
}

/** `Date.UTC` lets days flow over, and takes years below 100 for those of the last century. */
function isRealDay(day: CalendarDay): boolean {
  const real = toCalendarDay(Date.UTC(day.year, day.month - 1, day.day) / 1000);
  return real.year === day.year && real.month === day.month && real.day === day.day;
}

function readOffset(text: string): number {
  if (text.toUpperCase() === "Z") return 0;
  const sign = text.startsWith("-") ? -1 : 1;
  return sign * (Number(text.slice(1, 3)) * 3600 + Number(text.slice(-2)) * 60);
}

/** An IANA zone name that this system knows. Throws UsageError. */
export function parseZone(text: string, place: string): string {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw badValue(place, text, "a time zone such as UTC, Europe/Berlin or America/New_York");
  }
}
