/** The flags that every `list` has. */
import type { Command } from "commander";
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import type { Flags } from "../args/flags.ts";
import { parseInteger } from "../args/numbers.ts";
import { UsageError } from "../errors/usage-error.ts";
import { LIMIT_DEFAULT, type ListLimits } from "./list-rows.ts";

export function addListFlags(command: Command): Command {
  return command
    .option("--limit <n>", `maximum number of rows (default: ${LIMIT_DEFAULT})`)
    .option("--all", "all rows")
    .option("--wrap", "wrap wide text in tables instead of cutting it")
    .option(
      "--per-page <n>",
      `page size, 1 to ${PER_PAGE_MAX} (default: ${PER_PAGE_MAX}, or the limit where that is less)`,
    );
}

/** Throws UsageError. */
export function readLimits(flags: Flags): ListLimits {
  const limit = flags.parse("--limit", (text, place) => parseInteger(text, place, { min: 1 }));
  if (limit !== null && flags.is("--all")) throw new UsageError("--limit and --all cannot be used together");
  return {
    limit: flags.is("--all") ? null : (limit ?? LIMIT_DEFAULT),
    wrap: flags.is("--wrap"),
    perPage: flags.parse("--per-page", (text, place) => parseInteger(text, place, { min: 1, max: PER_PAGE_MAX })),
  };
}
