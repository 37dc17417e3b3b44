import type { Deps } from "../../src/cli/kit/deps.ts";
import type { ExitCode } from "../../src/cli/exit-codes.ts";
import { readCommandLine } from "../../src/cli/program/command-line.ts";

/** Runs one command line, without global flags, in the world of `deps`. Throws what the command throws. */
export async function runCommand(deps: Deps, words: readonly string[]): Promise<ExitCode> {
  const line = await readCommandLine(words);
  if (line.kind === "text") throw new Error(`${words.join(" ")} prints help`);
  return line.call.action(deps, line.call.flags, line.call.operands);
}
