import { createWallClock, toMoment } from "../zone.ts";
import { readLabel } from "./periods.ts";

const LAST_SECOND = 253_402_300_799;

/** A short number with a fraction is more likely a duration. */
const NUMBER = /^\d+$|^\d{9,}\.\d+$/;
/** Years, dates and spreadsheet day numbers, which as Unix seconds would all be in 1970. */
const DATE_NUMBER = /^(?:(?:19|20)\d{2}(?:(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))?|[2-6]\d{4})$/;
/** ISO 8601 and database formats: a space instead of `T`, slashes, a fraction, `UTC` or `+00` as the zone. */
const TEXT =
  /^(\d{4})([-/])(\d{2})\2(\d{2})(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,]\d+)?)?\s*(Z|UTC|GMT|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?(?: ?UTC)?$/i;

/**
 * Returns Unix seconds for a date, a time, or Unix time in seconds or milliseconds, and null for anything outside the
 * years 1970 to 9999. `zone` applies to times without a zone; null is the system's.
 */
export function readMoment(text: string, zone: string | null): number | null {
  const seconds = NUMBER.test(text) ? readNumber(text) : readText(text, zone);
  return seconds !== null && seconds >= 0 && seconds <= LAST_SECOND ? seconds : null;
}

function readNumber(text: string): number | null {
  if (DATE_NUMBER.test(text)) return null;
  const number = Number(text);
  return Math.floor(number > LAST_SECOND ? number / 1000 : number);
}

function readText(text: string, zone: string | null): number | null {
  const [, year, , month, date, hour = "0", minute = "0", second = "0", offset] = TEXT.exec(text) ?? [];
  const day = year === undefined ? undefined : readLabel(`${year}-${month}-${date}`)?.start;
  if (day === undefined) return null;
  const wall = Date.UTC(day.year, day.month - 1, day.day, Number(hour), Number(minute), Number(second)) / 1000;
  if (offset !== undefined) return wall - readOffset(offset);
  return /utc$/i.test(text) ? wall : toMoment(wall, createWallClock(zone));
}

function readOffset(text: string): number {
  const [, sign, hours = "0", minutes = "0"] = /^([+-])(\d{2}):?(\d{2})?$/.exec(text) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
}
