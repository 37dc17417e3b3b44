/** Times as saved rows have them. */
import type { Json } from "../../contract/json.ts";
import { TIME_MAX } from "../../contract/limits.ts";
import { createWallClock, toMoment } from "../../runtime/zone.ts";

const NUMBER = /^\d+(?:\.\d+)?$/;
/** `2026`, `20260131` and a spreadsheet's day number: as Unix seconds they would be in 1970. */
const DATE_NUMBER = /^(?:(?:19|20)\d{2}(?:(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))?|[2-6]\d{4}(?:\.\d+)?)$/;
/** ISO 8601, and what databases print: a space for the `T`, a fraction, `UTC` or `+00` for the zone. */
const TEXT =
  /^(\d{4})[-/](\d{2})[-/](\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?(?: ?UTC)?$/i;

/**
 * Reads Unix seconds or milliseconds, and times as text; those without a zone are read in `zone`, null for the
 * system's. Null for what is not a time.
 */
export function createTimeReader(zone: string | null): (value: Json) => number | null {
  let wallClock: ((seconds: number) => number) | null = null;
  return (value) => {
    const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
    if (NUMBER.test(text)) return DATE_NUMBER.test(text) ? null : fromNumber(Number(text));
    const wall = readWall(text);
    if (wall === null) return null;
    if (wall.offset !== null) return inRange(wall.seconds - wall.offset);
    wallClock ??= createWallClock(zone);
    return inRange(toMoment(wall.seconds, wallClock));
  };
}

function fromNumber(value: number): number | null {
  return inRange(Math.floor(value > TIME_MAX ? value / 1000 : value));
}

function inRange(seconds: number): number | null {
  return seconds >= 0 && seconds <= TIME_MAX ? seconds : null;
}

/** `offset` in seconds; null where none is given. */
function readWall(text: string): { readonly seconds: number; readonly offset: number | null } | null {
  const [match, year, month, day, hour = "0", minute = "0", second = "0", zone] = TEXT.exec(text) ?? [];
  if (match === undefined) return null;
  const parts = [Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const;
  const at = Date.UTC(...parts);
  const date = new Date(at);
  // The 31st of April flows over into May.
  const isReal = date.getUTCMonth() === parts[1] && date.getUTCDate() === parts[2] && parts[3] < 24 && parts[4] < 60;
  if (!isReal) return null;
  return { seconds: at / 1000, offset: zone === undefined ? (/utc$/i.test(text) ? 0 : null) : readOffset(zone) };
}

function readOffset(zone: string): number {
  const [, sign, hours = "0", minutes = "0"] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  if (sign === undefined) return 0;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
}
