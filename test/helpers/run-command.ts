import type { Deps } from "../../src/cli/kit/deps.ts";
import type { ExitCode } from "../../src/cli/exit-codes.ts";
import { readCommandLine } from "../../src/cli/program/command-line.ts";

/** Runs a command line without global flags on `deps`. Throws what the command throws. */
export async function runCommand(deps: Deps, words: readonly string[]): Promise<ExitCode> {
  const line = await readCommandLine(words);
  if (line.kind === "text") throw new Error(`${words.join(" ")} prints help`);
  return line.call.action(deps, line.call.flags, line.call.operands);
}
