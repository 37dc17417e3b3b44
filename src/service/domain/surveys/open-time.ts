/**
 * The clock of Autopilot, which runs while its window is open. Seconds are those that pass: where clocks are set
 * forward an hour has none, where they are set back it has both.
 */
import { DAY_SECONDS } from "../../../runtime/zone.ts";
import type { WallClock } from "../../../runtime/zone.ts";
import { openHours, type Window } from "./windows.ts";

const HOUR_SECONDS = 3600;
export const WEEK_SECONDS = 7 * DAY_SECONDS;
/** 1 January 1970 was a Thursday. */
const FIRST_WEEKDAY = 4;

/** The open seconds of a week in which no clock is set. */
export function openSecondsOfWeek(window: Window): number {
  const hours = openHours(window).reduce((sum, [from, to]) => sum + to - from, 0);
  return window.days.size * hours * HOUR_SECONDS;
}

/** This moment where the window is open, else when it opens next. Unix seconds. */
export function nextOpen(at: number, window: Window, wallClock: WallClock): number {
  return afterOpenTime(at, 0, window, wallClock);
}

/** The first open moment by which so many open seconds have passed since `from`. Unix seconds. */
export function afterOpenTime(from: number, openSeconds: number, window: Window, wallClock: WallClock): number {
  let left = openSeconds;
  for (let at = from, wall = wallClock(at); ;) {
    const next = steadyUntil(at, wall, wallClock);
    for (const [opens, closes] of openSpans(wall, wall + next.at - at, window)) {
      if (left < closes - opens) return at + (opens - wall) + left;
      left -= closes - opens;
    }
    ({ at, wall } = next);
  }
}

/** A week later, or the moment before it at which the zone's clocks are set. */
function steadyUntil(at: number, wall: number, wallClock: WallClock): { at: number; wall: number } {
  const shift = wall - at;
  const weekLater = at + WEEK_SECONDS;
  const then = wallClock(weekLater);
  if (then - weekLater === shift) return { at: weekLater, wall: then };
  let [before, after] = [at, weekLater];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (wallClock(middle) - middle === shift) before = middle;
    else after = middle;
  }
  return { at: after, wall: wallClock(after) };
}

/** The open spans between two times of the wall clock, in their order. */
function* openSpans(from: number, to: number, window: Window): Generator<readonly [opens: number, closes: number]> {
  const spans = openHours(window);
  // The window of the day before may go over midnight.
  for (let day = Math.floor(from / DAY_SECONDS) - 1; day * DAY_SECONDS < to; day += 1) {
    if (!window.days.has((((day + FIRST_WEEKDAY) % 7) + 7) % 7)) continue;
    for (const [first, last] of spans) {
      const opens = Math.max(from, day * DAY_SECONDS + first * HOUR_SECONDS);
      const closes = Math.min(to, day * DAY_SECONDS + last * HOUR_SECONDS);
      if (opens < closes) yield [opens, closes];
    }
  }
}
