import { createWallClock, toCalendarDay, toMoment } from "../zone.ts";
import { DAYS, movePeriod, type PeriodRange, rangeOf, weekday } from "./periods.ts";

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const DAY_TIME = /^(?:(last)\s+)?([a-z]+)(?:\s+([01]?\d|2[0-3]):([0-5]\d))?$/;

/** Whether `monday` means the most recent one (or today) or the next one. `last monday` is always before today. */
export type Near = "past" | "future";

/**
 * Reads a day or a minute: `today 9:00`, `monday`, `mon 9:00`, `last monday`. Null for anything else. `now` is Unix
 * seconds, `zone` an IANA name or null for the system's.
 */
export function readDayTime(
  text: string,
  { now, zone }: { readonly now: number; readonly zone: string | null },
  near: Near,
): PeriodRange | null {
  const [, last, word = "", hour, minute] = DAY_TIME.exec(text.toLowerCase()) ?? [];
  const wallClock = createWallClock(zone);
  const today = toCalendarDay(wallClock(now));
  const at = (daysAway: number): PeriodRange => {
    const start = movePeriod("day", today, daysAway);
    if (hour === undefined) return rangeOf("day", start, wallClock);
    const wall = Date.UTC(start.year, start.month - 1, start.day, Number(hour), Number(minute)) / 1000;
    const moment = toMoment(wall, wallClock);
    return { since: moment, until: moment };
  };
  const named = DAYS.get(word);
  if (named !== undefined) return last === undefined ? at(named) : null;
  const wanted = WEEKDAYS.findIndex((name) => name === word || name.slice(0, 3) === word);
  if (wanted < 0) return null;
  const ahead = (wanted - weekday(today) + 7) % 7;
  if (last !== undefined) return at(ahead - 7);
  return near === "past"
    ? ([ahead, ahead - 7].map(at).find(({ since }) => since <= now) ?? null)
    : ([ahead, ahead + 7].map(at).find(({ since }) => since > now) ?? null);
}
