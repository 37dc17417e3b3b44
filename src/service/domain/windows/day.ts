import { labelAt } from "../../../runtime/calendar/periods.ts";
import {
  createWallClock,
  DAY_SECONDS,
  DEFAULT_ZONE,
  firstSecond,
  toCalendarDay,
  toMoment,
} from "../../../runtime/zone.ts";
import { isQuiet, type QuietHours } from "./windows.ts";

const HOUR_SECONDS = 3600;

/**
 * Null if it isn't quiet in any zone. If the zones' quiet hours together cover the whole day, only the first zone
 * counts.
 */
export function quietUntil(
  now: number,
  quiet: QuietHours,
  zones: readonly string[],
): { readonly at: number; readonly zone: string } | null {
  const walls = zones.map((zone) => createWallClock(zone)(now));
  const spread = (Math.max(...walls) - Math.min(...walls)) / HOUR_SECONDS;
  const heeded = spread < (quiet.from - quiet.to + 24) % 24 ? zones : zones.slice(0, 1);
  const ends = heeded.map((zone) => ({ zone, at: quietEnd(now, quiet, zone) }));
  const last = ends.reduce((left, right) => (right.at > left.at ? right : left));
  return last.at > now ? last : null;
}

function quietEnd(now: number, quiet: QuietHours, zone: string): number {
  const wallClock = createWallClock(zone);
  const wall = wallClock(now);
  if (!isQuiet(Math.floor((wall % DAY_SECONDS) / HOUR_SECONDS), quiet)) return now;
  const ends = wall - (wall % DAY_SECONDS) + quiet.to * HOUR_SECONDS;
  return toMoment(ends > wall ? ends : ends + DAY_SECONDS, wallClock);
}

export interface LocalDay {
  readonly name: string;
  readonly beginsAt: number;
  readonly nextAt: number;
}

export function localDay(now: number, zone: string | null): LocalDay {
  const wallClock = createWallClock(zone ?? DEFAULT_ZONE);
  const { year, month, day } = toCalendarDay(wallClock(now));
  return {
    name: labelAt("day", now, wallClock),
    beginsAt: firstSecond({ year, month, day }, wallClock),
    nextAt: firstSecond({ year, month, day: day + 1 }, wallClock),
  };
}
