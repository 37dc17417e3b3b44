import { DURATION_MAX } from "../limits.ts";

const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
const DURATION = /^(\d+)([smhdw])?$/;

export const DURATION_FORM = "a duration such as 90 (seconds), 90s, 15m, 2h, 1d or 2w";
export const LIFETIME_FORM = "must be from 1 second to 100 years";

export function isLifetime(seconds: number): boolean {
  return seconds >= 1 && seconds <= DURATION_MAX;
}

/** Reads `90`, `90s`, `15m`, `2h`, `1d` or `2w` as seconds; null for any other text. */
export function readDuration(text: string): number | null {
  const match = DURATION.exec(text.trim());
  if (match === null) return null;
  const seconds = Number(match[1]) * UNIT_SECONDS[(match[2] ?? "s") as keyof typeof UNIT_SECONDS];
  return Number.isSafeInteger(seconds) ? seconds : null;
}

export const INTERVAL_FORM = "a duration with a unit, such as 90d or 12h";

/**
 * Reads the time between two surveys of a person, in seconds. Null for a bare number of less than a day: it was
 * probably meant as days, and reading it as seconds would mail everyone immediately.
 */
export function readInterval(text: string): number | null {
  const seconds = readDuration(text);
  const isMeantAsDays = /^\d+$/.test(text.trim()) && seconds !== 0 && (seconds ?? 0) < UNIT_SECONDS.d;
  return isMeantAsDays ? null : seconds;
}

export function formatDuration(seconds: number): string {
  const unit = (["d", "h", "m"] as const).find((each) => seconds > 0 && seconds % UNIT_SECONDS[each] === 0) ?? "s";
  return `${seconds / UNIT_SECONDS[unit]}${unit}`;
}

const YEAR_SECONDS = 365.25 * UNIT_SECONDS.d;

/** Like `readDuration`, but also accepts years such as `5y`. */
export function readAge(text: string): number | null {
  const [, years] = /^(\d{1,3})y$/.exec(text.trim()) ?? [];
  return years === undefined ? readDuration(text) : Number(years) * YEAR_SECONDS;
}

export function ageForm(max = Infinity): string {
  return max === Infinity ? "a day or more, such as 5y, 400d or 52w" : `1d to ${max / UNIT_SECONDS.d}d, such as 7d`;
}
