/**
 * One rule for every command that does what cannot be undone: on a terminal it asks, with the numbers; elsewhere it
 * needs `--yes`.
 */
import type { FlagRecord } from "../args/flag-record.ts";
import { UsageError } from "../errors/usage-error.ts";
import { toSafeText } from "../render/safe-text.ts";
import type { Deps } from "./deps.ts";
import { confirm } from "./notes.ts";

/** Each command that removes has it; `test/cli/command/removal.test.ts` lists them. */
export const YES_FLAG: FlagRecord = { flag: "--yes", text: "skip the confirmation prompt" };

export interface Removal {
  /** As it is typed: `service key revoke`. */
  readonly command: string;
  readonly yes: boolean;
  /** Said when the question is declined. */
  readonly kept?: string;
}

/**
 * Call it before any other work: it throws UsageError where `--yes` is missing and there is no terminal to ask on. The
 * question is composed only where it is asked; declined, it throws CancelledError. `--dry-run` asks nothing.
 */
export function checkRemoval(
  deps: Deps,
  { command, yes, kept = "Nothing was removed." }: Removal,
): (compose: () => string | Promise<string | null>) => Promise<void> {
  const { streams, options } = deps;
  if (yes || options.dryRun) return async () => {};
  if (!streams.in.isTTY || !streams.err.isTTY)
    throw new UsageError(`${command} requires confirmation, and there is no terminal to ask on; pass --yes`);
  return async (compose) => {
    const question = await compose();
    if (question !== null) await confirm(deps, toSafeText(question), kept);
  };
}
