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
  /** The question lists what the command line does not name: it is shown where there is no terminal too. */
  readonly isList?: boolean;
}

/**
 * The question is composed first, so that a name that leads nowhere is reported before `--yes` is asked for; null asks
 * nothing. Throws UsageError where there is no terminal, CancelledError when declined. `--dry-run` asks nothing.
 */
export async function confirmRemoval(
  deps: Deps,
  { command, yes, kept = "Nothing was removed.", isList = false }: Removal,
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
  await confirm(deps, toSafeText(question), kept);
}
