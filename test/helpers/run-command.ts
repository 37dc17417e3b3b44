import { createFlags } from "../../src/cli/args/flags.ts";
import type { Deps } from "../../src/cli/command/deps.ts";
import type { ExitCode } from "../../src/cli/exit-codes.ts";
import { runProgram } from "../../src/cli/program.ts";

/** Runs one command line, without global flags, in the world of `deps`. Throws what the command throws. */
export async function runCommand(deps: Deps, words: readonly string[]): Promise<ExitCode> {
  const outcome = await runProgram(words, {
    invoke: (action, flags, operands) => action(deps, createFlags(flags), operands),
  });
  if (outcome.kind === "text") throw new Error(`${words.join(" ")} prints help`);
  return outcome.exit;
}
