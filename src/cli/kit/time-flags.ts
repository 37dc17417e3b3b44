import { unixSeconds } from "../../runtime/clock.ts";
import { quoteText } from "../../contract/text/invisible.ts";
import { DAY_SECONDS, systemZone } from "../../runtime/zone.ts";
import type { FlagRecord } from "../args/flag-record.ts";
import type { Flags } from "../args/flags.ts";
import { type DayEdge, parsePeriod, parseTime, type TimeContext } from "../args/time.ts";
import { UsageError } from "../errors/usage-error.ts";
import { createTimeFormatter } from "../render/time.ts";
import type { Deps } from "./deps.ts";
import type { FlagGroup } from "./flag-spec.ts";
import { writeNote } from "./notes.ts";

export function rangeFlags(what: string): readonly FlagRecord[] {
  return [
    { flag: "--since", value: "time", text: `${what} at or after` },
    { flag: "--until", value: "time", text: `${what} at or before` },
    {
      flag: "--period",
      value: "period",
      text: `${what} in a period such as last-month, 2026-05 or 2026-Q1`,
      conflicts: ["--since", "--until"],
    },
  ];
}

export function timeRange(what: string): FlagGroup<TimeFilter> {
  return { records: rangeFlags(what), read: (flags, deps) => readRange(deps, flags) };
}

export function timeContext({ clock, options }: Deps): TimeContext {
  return { now: unixSeconds(clock), zone: options.timeZone };
}

export function readTime(deps: Deps, flags: Flags, flag: string, edge: DayEdge): number | null {
  return flags.parse(flag, (text, place) => parseTime(text, place, timeContext(deps), edge));
}

export function parseStart(text: string, place: string, deps: Deps): number {
  return parseTime(text, place, timeContext(deps), "first");
}

export function parseEnd(text: string, place: string, deps: Deps): number {
  return parseTime(text, place, timeContext(deps), "last");
}

export function parseRecordedTime(text: string, place: string, deps: Deps): number {
  const at = parseStart(text, place, deps);
  if (at <= timeContext(deps).now + DAY_SECONDS) return at;
  throw new UsageError(`${place}: ${quoteText(text)} is more than a day ahead`);
}

/** In Unix seconds, both inclusive; null means unbounded. */
export interface TimeFilter {
  readonly since: number | null;
  readonly until: number | null;
}

interface RangeFlags {
  readonly since: string;
  readonly until: string;
  readonly period?: string;
  /** The flag that sets the time up to which a command reports, such as `--as-of`. A range can't start after it. */
  readonly asOf?: string;
}

export const RANGE_FLAGS: RangeFlags = { since: "--since", until: "--until", period: "--period" };

export function readRange(deps: Deps, flags: Flags, names: RangeFlags = RANGE_FLAGS): TimeFilter {
  const { period } = names;
  const whole =
    period === undefined ? null : flags.parse(period, (text, place) => parsePeriod(text, place, timeContext(deps)));
  const range = whole ?? {
    since: readTime(deps, flags, names.since, "first"),
    until: readTime(deps, flags, names.until, "last"),
  };
  const { since, until } = range;
  checkOrder(deps, flags, names, range);
  if (deps.options.verbosity > 0 && (since !== null || until !== null)) echo(deps, names, range);
  return range;
}

function checkOrder(deps: Deps, flags: Flags, names: RangeFlags, { since, until }: TimeFilter): void {
  const iso = createTimeFormatter({ format: "iso", zone: null, now: 0 });
  const { now } = timeContext(deps);
  if (since === null) return;
  if (until !== null && since > until)
    throw new UsageError(`${names.until} (${iso(until)}) is before ${names.since} (${iso(since)})`);
  const { asOf, period } = names;
  // Without `asOf`, a start in the future is allowed, because the service's clock can be ahead.
  if (asOf === undefined || since <= now) return;
  const start = period !== undefined && flags.text(period) !== null ? period : names.since;
  const where = flags.text(asOf) === null ? "in the future" : `after ${asOf} (${iso(now)})`;
  throw new UsageError(`${start} (${iso(since)}) is ${where}`);
}

function echo(deps: Deps, names: RangeFlags, { since, until }: TimeFilter): void {
  const { now, zone } = timeContext(deps);
  const write = createTimeFormatter({ format: "local", zone, now });
  const ends = [
    ...(since === null ? [] : [`${names.since} ${write(since)}`]),
    ...(until === null ? [] : [`${names.until} ${write(until)}`]),
  ];
  void writeNote(deps, `${ends.join(", ")} (${zone ?? systemZone()})`);
}
