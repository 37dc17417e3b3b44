/** Autopilot's clock runs only while its window is open. It counts elapsed seconds, so DST changes don't affect it. */
import { createWallClock, DAY_SECONDS, type WallClock } from "../../../runtime/zone.ts";
import { openHours, type Window } from "./windows.ts";

const HOUR_SECONDS = 3600;
export const WEEK_SECONDS = 7 * DAY_SECONDS;
/** 1 January 1970 was a Thursday. */
const FIRST_WEEKDAY = 4;

/** Open seconds in a week without clock changes. */
export function openSecondsOfWeek(window: Window): number {
  const hours = openHours(window).reduce((sum, [from, to]) => sum + to - from, 0);
  return window.days.size * hours * HOUR_SECONDS;
}

/** `at` if the window is open then, else the next opening. Unix seconds. */
export function nextOpen(at: number, window: Window): number {
  return afterOpenTime(at, 0, window);
}

/** The first time with an open window after `openSeconds` have passed since `from`. Unix seconds. */
export function afterOpenTime(from: number, openSeconds: number, window: Window): number {
  const wallClock = createWallClock(window.zone);
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

/** One week later or, if the clock changes before that, the moment of the change. */
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

function* openSpans(from: number, to: number, window: Window): Generator<readonly [opens: number, closes: number]> {
  const spans = openHours(window);
  // The window of the day before may cross midnight.
  for (let day = Math.floor(from / DAY_SECONDS) - 1; day * DAY_SECONDS < to; day += 1) {
    if (!window.days.has((((day + FIRST_WEEKDAY) % 7) + 7) % 7)) continue;
    for (const [first, last] of spans) {
      const opens = Math.max(from, day * DAY_SECONDS + first * HOUR_SECONDS);
      const closes = Math.min(to, day * DAY_SECONDS + last * HOUR_SECONDS);
      if (opens < closes) yield [opens, closes];
    }
  }
}
