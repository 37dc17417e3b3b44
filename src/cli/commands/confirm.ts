import type { Deps } from "../deps.ts";
import { UsageError } from "../errors/usage-error.ts";

/** Asks y/N on a terminal; throws UsageError when declined, or when there is nobody to ask. `command` is named in that message. */
export async function confirm({ streams }: Deps, question: string, command: string): Promise<void> {
  if (!streams.in.isTTY || !streams.err.isTTY) throw new UsageError(`${command} asks first, and there is no terminal to ask on; say --yes`);
  const answer = await streams.in.ask(`${question} [y/N] `);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new UsageError("declined; nothing was sent");
}
