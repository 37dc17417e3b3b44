/** Flags that take a time (design: "Times on input"). */
import type { Command } from "commander";
import { unixSeconds } from "../../runtime/clock.ts";
import type { Flags } from "../args/flags.ts";
import { parseTime, type DayEdge } from "../args/time.ts";
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

/** `--since` from the first second of its day, `--until` to the last. Throws UsageError. */
export function readRange(deps: Deps, flags: Flags): { readonly since: number | null; readonly until: number | null } {
  return { since: readTime(deps, flags, "--since", "first"), until: readTime(deps, flags, "--until", "last") };
}
