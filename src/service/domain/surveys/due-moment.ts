/** The one place that decides when a member's next Autopilot survey is due. */
import type { WallClock } from "../../../runtime/zone.ts";
import { afterOpenTime, nextOpen, openSecondsOfWeek, WEEK_SECONDS } from "./open-time.ts";
import type { Window } from "./windows.ts";

/**
 * The event from which a member's next survey is counted; kept with the membership, so that changed settings can be
 * applied.
 */
export type Start =
  /** The person joined. `askedAt` is when a survey was sent to them last, by whatever; null for never. */
  | { readonly kind: "join"; readonly at: number; readonly isSpread: boolean; readonly askedAt: number | null }
  /** The survey before was sent, or given up. */
  | { readonly kind: "after"; readonly at: number }
  /** Autopilot was switched on again after their survey had fallen due. */
  | { readonly kind: "resume"; readonly at: number };

export interface DueFacts {
  readonly start: Start;
  /** The member's number on the platform, counted from 1. */
  readonly number: number;
  /** Not sooner than this, because of a survey outside Autopilot; null for no such bound. */
  readonly notBefore: number | null;
  /** Seconds between two surveys to one member. */
  readonly frequency: number;
  readonly window: Window;
  readonly wallClock: WallClock;
  readonly now: number;
}

/** Shorter frequencies are counted by the calendar: of their open time little would be left. */
const OPEN_TIME_MIN_SECONDS = 14 * 86_400;
/** Multiples of it, modulo 1, stay evenly spread for any number of members. */
const GOLDEN_RATIO = 0.6180339887498949;

/** Unix seconds; an open moment, and never before `now`. */
export function dueMoment(facts: DueFacts): number {
  const { notBefore, window, wallClock, now } = facts;
  return nextOpen(Math.max(plannedMoment(facts), notBefore ?? 0, now), window, wallClock);
}

/** Unix seconds; the window may be closed then. */
export function plannedMoment(facts: Omit<DueFacts, "notBefore" | "now">): number {
  const { start, number, frequency } = facts;
  if (start.kind === "after") return later(facts, start.at, frequency);
  if (start.kind === "resume") return later(facts, start.at, shareOf(number) * Math.min(WEEK_SECONDS, frequency));
  const { at, askedAt, isSpread } = start;
  if (askedAt !== null && at - askedAt < frequency) return later(facts, askedAt, frequency);
  return isSpread ? later(facts, at, shareOf(number) * frequency) : at;
}

function shareOf(number: number): number {
  return (number * GOLDEN_RATIO) % 1;
}

/** More members than these leave no place of a frequency free: those after them lie between them. */
const MEMBERS_LOOKED_AT = 1_000_000;

/**
 * The numbers of the members who are surveyed first and last when so many join at once, the first of them with number
 * `from`.
 */
export function firstAndLast(from: number, count: number): { readonly first: number; readonly last: number } {
  const outermost = { first: from, last: from };
  for (let number = from; number < from + Math.min(count, MEMBERS_LOOKED_AT); number += 1) {
    if (shareOf(number) < shareOf(outermost.first)) outermost.first = number;
    if (shareOf(number) > shareOf(outermost.last)) outermost.last = number;
  }
  return outermost;
}

/** So many seconds of the calendar later, as open time where the frequency is counted in it. */
function later(
  { frequency, window, wallClock }: Omit<DueFacts, "notBefore" | "now">,
  from: number,
  seconds: number,
): number {
  if (frequency < OPEN_TIME_MIN_SECONDS) return from + Math.round(seconds);
  const openSeconds = Math.round((seconds * openSecondsOfWeek(window)) / WEEK_SECONDS);
  return afterOpenTime(from, openSeconds, window, wallClock);
}
