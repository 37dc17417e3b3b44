export interface CalendarDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export const DAY_SECONDS = 86_400;

export function utcDay(seconds: number): number {
  return Math.floor(seconds / DAY_SECONDS);
}

export const DEFAULT_ZONE = "UTC";

/** IANA names of a country's zones. Newer versions of Node have it as a method, older ones as a property. */
export function regionZones(region: string): readonly string[] {
  const locale = new Intl.Locale("und", { region }) as Partial<{ timeZones: string[]; getTimeZones: () => string[] }>;
  return locale.getTimeZones?.() ?? locale.timeZones ?? [];
}

export function systemZone(): string {
  // Undefined or Etc/Unknown if ICU can't identify /etc/localtime.
  const name: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return name === undefined || name === "Etc/Unknown" ? DEFAULT_ZONE : name;
}

/** Converts Unix seconds to local wall-clock seconds. Times that a `Date` can't represent are returned unchanged. */
export type WallClock = (seconds: number) => number;

/** Cached, because creating one per survey took a fifth of the time of a rehearsal. */
const wallClocks = new Map<string | null, WallClock>();

/** `zone` is an IANA name, or null for the system's. */
export function createWallClock(zone: string | null): WallClock {
  const known = wallClocks.get(zone);
  if (known !== undefined) return known;
  const made = makeWallClock(zone);
  wallClocks.set(zone, made);
  return made;
}

/** Maximum number of cached offsets. Without the cache, converting a time takes 30 times as long. */
const HOURS_KEPT_MAX = 10_000;

function makeWallClock(zone: string | null): WallClock {
  const read = createWallParts(zone);
  const exact = (seconds: number): number => {
    if (Number.isNaN(new Date(seconds * 1000).getTime())) return seconds;
    const [year, month, ...rest] = read(seconds);
    const wall = Date.UTC(year, month - 1, ...rest);
    return Number.isNaN(wall) ? seconds : wall / 1000;
  };
  /** Offset in each hour; null if it changes within the hour. */
  const offsets = new Map<number, number | null>();
  const offsetIn = (hour: number): number | null => {
    const [first, last] = [hour * 3600, hour * 3600 + 3599].map((seconds) => exact(seconds) - seconds);
    if (offsets.size >= HOURS_KEPT_MAX) offsets.clear();
    const offset = first === last ? (first ?? null) : null;
    offsets.set(hour, offset);
    return offset;
  };
  return (seconds) => {
    const hour = Math.floor(seconds / 3600);
    const known = offsets.get(hour);
    const offset = known === undefined ? offsetIn(hour) : known;
    return offset === null ? exact(seconds) : Math.floor(seconds) + offset;
  };
}

type WallParts = readonly [year: number, month: number, day: number, hour: number, minute: number, second: number];

export function createWallParts(zone: string | null): (seconds: number) => WallParts {
  const numbers = {
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  } as const;
  const format = new Intl.DateTimeFormat("en-US", {
    ...numbers,
    hourCycle: "h23",
    ...(zone === null ? {} : { timeZone: zone }),
  });
  return (seconds) => {
    const parts = new Map(format.formatToParts(seconds * 1000).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    return [part("year"), part("month"), part("day"), part("hour"), part("minute"), part("second")];
  };
}

export function toCalendarDay(wallSeconds: number): CalendarDay {
  const date = new Date(wallSeconds * 1000);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

export function firstSecond({ year, month, day }: CalendarDay, wallClock: (seconds: number) => number): number {
  return toMoment(Date.UTC(year, month - 1, day) / 1000, wallClock);
}

/** The earlier of two moments with the same wall-clock time. A time skipped by a clock change moves past the change. */
export function toMoment(wall: number, wallClock: (seconds: number) => number): number {
  const candidates = [-DAY_SECONDS, DAY_SECONDS].map((away) => wall - (wallClock(wall + away) - (wall + away)));
  const exact = candidates.filter((seconds) => wallClock(seconds) === wall);
  return exact.length > 0 ? Math.min(...exact) : Math.max(...candidates);
}
