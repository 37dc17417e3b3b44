import { badValue } from "./bad-value.ts";

const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
const DURATION = /^(\d+)([smhdw])?$/;

/** Seconds: `90`, `90s`, `15m`, `2h`, `1d`, `2w`. Throws UsageError. */
export function parseDuration(text: string, place: string): number {
  const seconds = readDuration(text);
  if (seconds !== null) return seconds;
  throw badValue(place, text, "a duration such as 90 (seconds), 90s, 15m, 2h, 1d or 2w");
}

/** The same without a judgement: null when the text is no duration. */
export function readDuration(text: string): number | null {
  const match = DURATION.exec(text.trim());
  if (match === null) return null;
  const seconds = Number(match[1]) * UNIT_SECONDS[(match[2] ?? "s") as keyof typeof UNIT_SECONDS];
  return Number.isSafeInteger(seconds) ? seconds : null;
}
