/** Local days and hours, by time zone. */

export interface Window {
  /** As typed by administrators. */
  readonly days: string;
  readonly hours: string;
  /** The same as data. 0 is Sunday; `to` exceeds 24 if the window crosses midnight. */
  readonly weekdays: readonly number[];
  readonly from: number;
  readonly to: number;
}

const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];

export const WINDOWS: readonly Window[] = [
  { days: "any", hours: "any", weekdays: EVERY_DAY, from: 0, to: 24 },
  { days: "mon-fri", hours: "5-10", weekdays: [1, 2, 3, 4, 5], from: 5, to: 10 },
  { days: "any", hours: "9-12", weekdays: EVERY_DAY, from: 9, to: 12 },
  { days: "fri-tue", hours: "22-6", weekdays: [5, 6, 0, 1, 2], from: 22, to: 30 },
];

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

interface LocalTime {
  readonly weekday: number;
  readonly hour: number;
  /** Such as `31/05/2026`. */
  readonly day: string;
}

export interface Calendar {
  readonly isOpen: (ms: number, window: Window) => boolean;
  readonly dayOf: (ms: number) => string;
}

export function createCalendar(zone: string): Calendar {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    weekday: "short",
    hour: "2-digit",
    hourCycle: "h23",
    day: "2-digit",
    month: "2-digit",
    year: "numeric",
  });
  const read = (ms: number): LocalTime => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    const { weekday = "", hour, day, month, year } = parts;
    return { weekday: WEEKDAYS.indexOf(weekday), hour: Number(hour), day: `${day}/${month}/${year}` };
  };
  return {
    dayOf: (ms) => read(ms).day,
    isOpen: (ms, { weekdays, from, to }) => {
      const { weekday, hour } = read(ms);
      const isOwnDay = weekdays.includes(weekday) && hour >= from && hour < to;
      return isOwnDay || (weekdays.includes((weekday + 6) % 7) && hour + 24 < to);
    },
  };
}

const MINUTE_MS = 60_000;

/** The first full minute from `startMs` at which the zone's clock shows this hour. */
export function firstHour(startMs: number, hour: number, zone: string): number {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", hourCycle: "h23" });
  let ms = Math.ceil(startMs / MINUTE_MS) * MINUTE_MS;
  while (Number(format.format(ms)) !== hour % 24) ms += MINUTE_MS;
  return ms;
}
