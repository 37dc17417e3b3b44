/** Flags that take a time. */
import type { Command } from "commander";
import { unixSeconds } from "../../runtime/clock.ts";
import type { Flags } from "../args/flags.ts";
import { parseTime, type DayEdge } from "../args/time.ts";
import { UsageError } from "../errors/usage-error.ts";
import { createTimeFormatter } from "../render/time.ts";
import type { Deps } from "./deps.ts";

/** `--since` and `--until`; `what` happened then, as in "created". */
export function addRangeFlags(command: Command, what: string): Command {
  return command.option("--since <time>", `${what} at or after`).option("--until <time>", `${what} at or before`);
}

/** Unix seconds; null when not given. A date alone is its first second, or its last. Throws UsageError. */
export function readTime(deps: Deps, flags: Flags, flag: string, edge: DayEdge): number | null {
  const context = { now: unixSeconds(deps.clock), zone: deps.options.timeZone };
  return flags.parse(flag, (text, place) => parseTime(text, place, context, edge));
}

/** Unix seconds, inclusive; null is open. */
export interface TimeRange {
  readonly since: number | null;
  readonly until: number | null;
}

const RANGE_FLAGS = { since: "--since", until: "--until" };

/**
 * The start from the first second of its day, the end to the last. Throws UsageError, also for a range that ends before
 * it starts: no service has rows there.
 */
export function readRange(deps: Deps, flags: Flags, names: Readonly<typeof RANGE_FLAGS> = RANGE_FLAGS): TimeRange {
  const since = readTime(deps, flags, names.since, "first");
  const until = readTime(deps, flags, names.until, "last");
  if (since === null || until === null || since <= until) return { since, until };
  const iso = createTimeFormatter({ format: "iso", zone: null, now: 0 });
  throw new UsageError(`${names.until} (${iso(until)}) is before ${names.since} (${iso(since)})`);
}
