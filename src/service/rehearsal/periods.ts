import { periodLabel, periodStart } from "../../runtime/calendar/periods.ts";
import { createWallClock, DAY_SECONDS, toCalendarDay } from "../../runtime/zone.ts";
import type { Rehearsal } from "./results.ts";

export const PERIODS = ["day", "week", "month"] as const;
export type RehearsalPeriod = (typeof PERIODS)[number];

export interface PeriodRow {
  readonly period: string;
  readonly surveys: number;
  readonly reminders: number;
  readonly held_throttled: number;
  readonly held_unsubscribed: number;
  readonly held_bounced: number;
  readonly held_limit: number;
}

/** Merges each run of empty periods into one row, named by its first and last period. */
export function foldEmpty(rows: readonly PeriodRow[]): readonly PeriodRow[] {
  const folded: { first: PeriodRow; last: PeriodRow; isEmpty: boolean }[] = [];
  for (const row of rows) {
    const isEmpty = Object.values(row).every((value) => typeof value === "string" || value === 0);
    const run = folded.at(-1);
    if (isEmpty && run?.isEmpty === true) run.last = row;
    else folded.push({ first: row, last: row, isEmpty });
  }
  return folded.map(({ first, last }) =>
    first === last ? first : { ...first, period: `${first.period} to ${last.period}` },
  );
}

type Counts = { -readonly [Name in Exclude<keyof PeriodRow, "period">]: number };

/** Includes periods without surveys. */
export function toPeriods({ since, until, zone, messages, held }: Rehearsal, by: RehearsalPeriod): PeriodRow[] {
  const wallClock = createWallClock(zone);
  const periodName = (wall: number): string => periodLabel(by, periodStart(by, toCalendarDay(wall)));
  const rows = new Map<string, Counts>();
  for (let wall = wallClock(since); wall <= wallClock(until); wall += DAY_SECONDS) rows.set(periodName(wall), none());
  rows.set(periodName(wallClock(until)), none());
  const add = (at: number, what: keyof Counts): void => {
    const row = rows.get(periodName(wallClock(at)));
    if (row !== undefined) row[what] += 1;
  };
  for (const { sent_at: at, kind } of messages) add(at, `${kind}s`);
  for (const { at, why } of held) if (why !== "window") add(at, `held_${why}`);
  return [...rows].map(([period, counts]) => ({ period, ...counts }));
}

function none(): Counts {
  return { surveys: 0, reminders: 0, held_throttled: 0, held_unsubscribed: 0, held_bounced: 0, held_limit: 0 };
}
