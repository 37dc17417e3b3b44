import { FURTHEST_SECOND, toIsoTime } from "../../contract/text/iso-time.ts";
import { type Clock, unixSeconds } from "../../runtime/clock.ts";
import { createWallParts, DAY_SECONDS, utcDay } from "../../runtime/zone.ts";

export const TIME_FORMATS = ["unix", "iso", "local", "relative"] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

/** Takes Unix seconds. Times outside the calendar are printed as numbers. */
export type TimeFormatter = (seconds: number) => string;

interface TimeOptions {
  readonly format: TimeFormat;
  readonly zone: string | null;
  readonly now: number;
}

interface TimeContext {
  readonly options: { readonly time: TimeFormat | null; readonly timeZone: string | null };
  readonly clock: Clock;
}

export function timeFormatterFor({ options, clock }: TimeContext, otherwise: TimeFormat): TimeFormatter {
  return createTimeFormatter({ format: options.time ?? otherwise, zone: options.timeZone, now: unixSeconds(clock) });
}

/** `unix` gives 1767225600, `iso` 2026-01-01T00:00:00Z (UTC), `local` 2026-01-01 01:00:00, `relative` "3 days ago". */
export function createTimeFormatter({ format, zone, now }: TimeOptions): TimeFormatter {
  const formatters: Record<TimeFormat, () => TimeFormatter> = {
    unix: () => String,
    iso: createIsoFormatter,
    local: () => (zone === null ? toSystemTime : createZoneFormatter(zone)),
    relative: () => (seconds) => toRelative(seconds - now),
  };
  const write = formatters[format]();
  return (seconds) => (Math.abs(seconds) <= FURTHEST_SECOND ? write(seconds) : String(seconds));
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, part) => two(part));

/** Keeps the day's text, because successive rows usually share it; writing whole times takes ten times as long. */
function createIsoFormatter(): TimeFormatter {
  let day = Number.NaN;
  let dayText = "";
  return (seconds) => {
    if (!Number.isInteger(seconds)) return toIsoTime(seconds);
    const thisDay = utcDay(seconds);
    if (thisDay !== day) [day, dayText] = [thisDay, toIsoTime(thisDay * DAY_SECONDS).slice(0, -"00:00:00Z".length)];
    const left = seconds - thisDay * DAY_SECONDS;
    const [hour, minute] = [Math.floor(left / 3600), Math.floor(left / 60) % 60];
    return `${dayText}${TWO_DIGITS[hour]}:${TWO_DIGITS[minute]}:${TWO_DIGITS[left % 60]}Z`;
  };
}

function toSystemTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  return writeParts(
    [date.getFullYear(), date.getMonth() + 1, date.getDate()],
    [date.getHours(), date.getMinutes(), date.getSeconds()],
  );
}

function writeParts(day: readonly number[], time: readonly number[]): string {
  return `${day.map(two).join("-")} ${time.map(two).join(":")}`;
}

function two(part: number): string {
  return String(part).padStart(2, "0");
}

function createZoneFormatter(zone: string): TimeFormatter {
  const read = createWallParts(zone);
  return (seconds) => {
    const [year, month, day, ...time] = read(seconds);
    return writeParts([year, month, day], time);
  };
}

const STEPS = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

function toRelative(secondsFromNow: number): string {
  const [unit, length] = STEPS.find(([, seconds]) => Math.abs(secondsFromNow) >= seconds) ?? ["second", 1];
  const count = Math.floor(Math.abs(secondsFromNow) / length);
  if (count === 0) return "now";
  const amount = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return secondsFromNow < 0 ? `${amount} ago` : `in ${amount}`;
}
