import { createWallClock, firstSecond } from "../../runtime/zone.ts";

/**
 * Returns the month (`2026-01`) of a time in Unix seconds; null is the system's zone. Caches where months begin,
 * because asking the zone for every row would take as long as reading the row.
 */
export function createMonths(zone: string | null): (at: number) => string {
  const wallClock = createWallClock(zone);
  const starts = new Map<number, number>();
  const monthStart = (month: number): number => {
    const day = { year: Math.floor(month / 12), month: (month % 12) + 1, day: 1 };
    const start = starts.get(month) ?? firstSecond(day, wallClock);
    starts.set(month, start);
    return start;
  };
  return (at) => {
    const date = new Date(at * 1000);
    const inUtc = date.getUTCFullYear() * 12 + date.getUTCMonth();
    if (at < monthStart(inUtc)) return monthLabel(inUtc - 1);
    return monthLabel(at >= monthStart(inUtc + 1) ? inUtc + 1 : inUtc);
  };
}

function monthLabel(month: number): string {
  return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}`;
}
