import type { Command } from "commander";
import { EXIT } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";

export function register(noun: Command, context: CommandContext): void {
  const command = context.describe(noun, {
    examples: ["surveyctl demo", "surveyctl demo --no-color > demo.txt"],
    exits: [EXIT.done, EXIT.failed, EXIT.interrupted],
  });
  context.action(command, async (deps) => {
    const { runDemo } = await import("./run.ts");
    return runDemo(deps);
  });
}
