import { unixSeconds } from "../../../runtime/clock.ts";
import type { FlagGroup } from "../../kit/flag-spec.ts";
import { RANGE_FLAGS, rangeFlags, readRange, readTime, type TimeFilter } from "../../kit/time-flags.ts";

/** Times such as `7d` are relative to `--as-of`. `start` is shown in help as the default of `--since`. */
export function pastRange(start?: string): FlagGroup<TimeFilter & { readonly asOf: number }> {
  return {
    records: [
      ...rangeFlags("answered").map((record) =>
        record.flag === "--since" && start !== undefined ? { ...record, otherwise: start } : record,
      ),
      {
        flag: "--as-of",
        value: "time",
        text: "count only answers up to this time; relative times count back from it",
        otherwise: "now",
      },
    ],
    read(flags, deps) {
      const asOf = readTime(deps, flags, "--as-of", "last") ?? unixSeconds(deps.clock);
      const then = { ...deps, clock: { ...deps.clock, now: () => asOf * 1000 } };
      return { ...readRange(then, flags, { ...RANGE_FLAGS, asOf: "--as-of" }), asOf };
    },
  };
}
