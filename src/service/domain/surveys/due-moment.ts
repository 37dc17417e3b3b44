import { afterOpenTime, nextOpen, openSecondsOfWeek, WEEK_SECONDS } from "../windows/open-time.ts";
import type { Window } from "../windows/windows.ts";

/**
 * The event from which the next survey is counted. It is stored so that the time can be recomputed when settings
 * change.
 */
export type Start =
  /** The person joined. `askedAt` is when any survey was last sent to them; null for never. */
  | { readonly kind: "join"; readonly at: number; readonly isSpread: boolean; readonly askedAt: number | null }
  /** The previous survey was sent or given up on. */
  | { readonly kind: "after"; readonly at: number }
  /** Autopilot was reactivated after the member's survey became due. */
  | { readonly kind: "resume"; readonly at: number }
  /** An administrator set the time of the next survey. */
  | { readonly kind: "set"; readonly at: number };

export interface DueFacts {
  readonly start: Start;
  readonly number: number;
  /** The earliest time allowed by a survey outside Autopilot, or null. */
  readonly notBefore: number | null;
  readonly frequency: number;
  readonly window: Window;
  readonly now: number;
}

/** Shorter intervals are counted in calendar time, because they contain too little open time. */
const OPEN_TIME_MIN_SECONDS = 14 * 86_400;
/** Multiples of the golden ratio, modulo 1, are evenly spread for any number of members. */
const GOLDEN_RATIO = 0.6180339887498949;

/** Unix seconds. Always within the window, and never before `now`. */
export function dueMoment(facts: DueFacts): number {
  const { notBefore, window, now } = facts;
  return nextOpen(Math.max(plannedMoment(facts), notBefore ?? 0, now), window);
}

/** Unix seconds. Can be outside the window. */
export function plannedMoment(facts: Omit<DueFacts, "notBefore" | "now">): number {
  const { start, number, frequency } = facts;
  if (start.kind === "set") return start.at;
  if (start.kind === "after") return later(facts, start.at, frequency);
  if (start.kind === "resume") return later(facts, start.at, shareOf(number) * Math.min(WEEK_SECONDS, frequency));
  const { at, askedAt, isSpread } = start;
  if (askedAt !== null && at - askedAt < frequency) return later(facts, askedAt, frequency);
  return isSpread ? later(facts, at, shareOf(number) * frequency) : at;
}

function shareOf(number: number): number {
  return (number * GOLDEN_RATIO) % 1;
}

/** Only this many members are checked, because further ones fall between them. */
const MEMBERS_MAX = 1_000_000;

/** The members surveyed first and last if `count` members join at the same time, starting with number `from`. */
export function firstAndLast(from: number, count: number): { readonly first: number; readonly last: number } {
  const outermost = { first: from, last: from };
  for (let number = from; number < from + Math.min(count, MEMBERS_MAX); number += 1) {
    if (shareOf(number) < shareOf(outermost.first)) outermost.first = number;
    if (shareOf(number) > shareOf(outermost.last)) outermost.last = number;
  }
  return outermost;
}

function later({ frequency, window }: Omit<DueFacts, "notBefore" | "now">, from: number, seconds: number): number {
  if (frequency < OPEN_TIME_MIN_SECONDS) return from + Math.round(seconds);
  const openSeconds = Math.round((seconds * openSecondsOfWeek(window)) / WEEK_SECONDS);
  return afterOpenTime(from, openSeconds, window);
}
