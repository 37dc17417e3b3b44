import type { Deps } from "./deps.ts";
import { CancelledError, UsageError } from "../errors/usage-error.ts";

/** Throws UsageError where there is nobody to ask; before anything else is done. */
export function checkTerminal({ streams }: Deps, command: string): void {
  if (!streams.in.isTTY || !streams.err.isTTY)
    throw new UsageError(`${command} asks first, and there is no terminal to ask on; say --yes`);
}

/** Asks y/N on a terminal; throws CancelledError when declined. */
export async function confirm({ streams }: Deps, question: string, kept = "Nothing was sent."): Promise<void> {
  const answer = await streams.in.ask(`${question} [y/N] `);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CancelledError(`Cancelled. ${kept}`);
}
