import type { Command } from "commander";
import { parseChoice } from "../../args/values.ts";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { SCRIPTS, SHELLS } from "./scripts.ts";

export function register(command: Command, context: CommandContext): void {
  context.describe(command, {
    operands: [["<shell>", "shell to write the script for", SHELLS]],
    examples: [
      "source <(surveyctl completion bash)",
      "echo 'source <(surveyctl completion zsh)' >> ~/.zshrc",
      "surveyctl completion fish > ~/.config/fish/completions/surveyctl.fish",
    ],
    exits: [EXIT.done],
  });
  context.action(command, (deps, _flags, [shell = ""]) => runCompletion(deps, shell));
}

/** Prints the shell's script. Throws UsageError for a shell that has none. */
export async function runCompletion({ streams }: Pick<Deps, "streams">, shell: string): Promise<ExitCode> {
  await streams.out.write(SCRIPTS[parseChoice(shell, "shell", SHELLS)]);
  return EXIT.done;
}
