/** Changes that can't be undone need a yes on the terminal, or `--yes`. */
import type { FlagRecord } from "../args/flag-record.ts";
import { UsageError } from "../errors/usage-error.ts";
import { toSafeText } from "../render/safe-text.ts";
import type { Deps } from "./deps.ts";
import { confirm } from "./notes.ts";

/** `test/cli/kit/removal.test.ts` lists the commands with this flag. */
export const YES_FLAG: FlagRecord = { flag: "--yes", text: "skip the confirmation prompt" };

export interface Removal {
  readonly command: string;
  readonly yes: boolean;
  readonly kept?: string;
  /** True if the question lists things that the command line doesn't name. Without a terminal, the hint repeats it. */
  readonly isList?: boolean;
  readonly retyped?: string;
}

/**
 * Composes the question even without a terminal, so that an unknown name is reported before a missing `--yes`. A null
 * question needs no confirmation. Throws UsageError without a terminal, CancelledError if the user declines.
 */
export async function confirmRemoval(
  deps: Deps,
  { command, yes, kept = "Nothing was removed.", isList = false, retyped }: Removal,
  compose: () => string | null | Promise<string | null>,
): Promise<void> {
  const { streams, options } = deps;
  if (yes || options.dryRun) return;
  const question = await compose();
  if (question === null) return;
  if (!streams.in.isTTY || !streams.err.isTTY)
    throw new UsageError(
      `${command} requires confirmation, and there is no terminal to ask on; pass --yes`,
      isList ? { hint: `it would ask: ${question}` } : {},
    );
  await confirm(deps, toSafeText(question), kept, retyped);
}
