import { DEFAULT_ZONE } from "../../../runtime/zone.ts";

/** Hours of local time, 0 to 23; they cross midnight if `from` is later than `to`. */
export interface QuietHours {
  readonly from: number;
  readonly to: number;
}

export function isQuiet(hour: number, { from, to }: QuietHours): boolean {
  return from <= to ? hour >= from && hour < to : hour >= from || hour < to;
}

export const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;

export interface Window {
  /** Days of the week; 0 is Sunday. */
  readonly days: ReadonlySet<number>;
  /** Hours after midnight. `to` is more than 24 if the window crosses the next midnight. */
  readonly from: number;
  readonly to: number;
  /** IANA name. */
  readonly zone: string;
  /** The server's quiet hours for text messages, as last configured. */
  readonly quiet?: QuietHours;
}

/** If quiet hours leave no open hours, they are ignored here, and the sender holds the messages. */
export function openHours(window: Window): readonly (readonly [from: number, to: number])[] {
  const spans = hoursOutsideQuiet(window);
  return spans.length > 0 ? spans : [[window.from, window.to]];
}

export function isNeverOpen(window: Window): boolean {
  return hoursOutsideQuiet(window).length === 0;
}

function hoursOutsideQuiet({ from, to, quiet }: Window): [from: number, to: number][] {
  if (quiet === undefined) return [[from, to]];
  const spans: [from: number, to: number][] = [];
  for (let hour = from; hour < to; hour += 1) {
    if (isQuiet(hour % 24, quiet)) continue;
    const last = spans.at(-1);
    if (last?.[1] === hour) last[1] = hour + 1;
    else spans.push([hour, hour + 1]);
  }
  return spans;
}

const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];
const SHORT_NAMES: readonly string[] = WEEKDAYS.map((day) => day.slice(0, 3));
const ANY = "any";

export const ALWAYS: Window = { days: new Set(EVERY_DAY), from: 0, to: 24, zone: DEFAULT_ZONE };

export const DAYS_FORM = 'must be days such as mon-fri or mon,wed,fri, or "any"';
export const HOURS_FORM = 'must be hours from 0 to 24 such as 5-10, or 22-6 over midnight, or "any"';

/** Reads `mon-fri`, `mon,wed,fri`, `fri-mon`, full names, or `any`; null for anything else. 0 is Sunday. */
export function parseDays(text: string): ReadonlySet<number> | null {
  const given = text.trim().toLowerCase();
  if (given === ANY) return new Set(EVERY_DAY);
  const days = new Set<number>();
  for (const part of given.split(",")) {
    const [from, to, ...others] = part.split("-").map(toWeekday);
    if (from === undefined || from === -1 || to === -1 || others.length > 0) return null;
    for (let day = from; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === (to ?? from)) break;
    }
  }
  return days;
}

function toWeekday(name: string): number {
  const given = name.trim();
  const full = (WEEKDAYS as readonly string[]).indexOf(given);
  return full === -1 ? SHORT_NAMES.indexOf(given) : full;
}

/** Reads `5-10`, `22-6` across midnight, or `any`; null for anything else, and for hours that are never open. */
export function parseHours(text: string): Pick<Window, "from" | "to"> | null {
  const given = text.trim().toLowerCase();
  if (given === ANY) return { from: 0, to: 24 };
  const [, from, to] = (/^(\d{1,2})\s*-\s*(\d{1,2})$/.exec(given) ?? []).map(Number);
  if (from === undefined || to === undefined || from > 23 || to > 24 || from === to) return null;
  return { from, to: to < from ? to + 24 : to };
}

/** The inverse of `parseDays`: a range if possible, otherwise a list that starts with Monday. */
export function formatDays(days: ReadonlySet<number>): string {
  if (days.size === 7) return ANY;
  const week = [1, 2, 3, 4, 5, 6, 0].filter((day) => days.has(day));
  const first = week.find((day) => !days.has((day + 6) % 7)) ?? 0;
  const last = (first + week.length - 1) % 7;
  const isSpan = week.length > 2 && Array.from(week, (_, at) => (first + at) % 7).every((day) => days.has(day));
  if (isSpan) return `${SHORT_NAMES[first]}-${SHORT_NAMES[last]}`;
  return week.map((day) => SHORT_NAMES[day]).join(",");
}

export function formatHours({ from, to }: Pick<Window, "from" | "to">): string {
  if (to - from === 24) return ANY;
  return `${from}-${to > 24 ? to - 24 : to}`;
}

export function toWindow(days: string, hours: string, zone: string): Window {
  return { ...ALWAYS, ...parseHours(hours), days: parseDays(days) ?? ALWAYS.days, zone };
}
