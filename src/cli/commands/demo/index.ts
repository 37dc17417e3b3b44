import type { Command } from "commander";
import { EXIT } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";

export function register(noun: Command, context: CommandContext): void {
  const command = context.describe(noun, {
    examples: ["surveyctl demo", "surveyctl demo --no-pause --no-color > demo.txt"],
    exits: [EXIT.done, EXIT.failed, EXIT.interrupted, EXIT.terminated],
    flags: [{ flag: "--no-pause", text: "do not wait for Enter between steps" }],
  });
  context.action(command, async (deps, flags) => {
    const { runDemo } = await import("./run.ts");
    return runDemo(deps, { pause: flags.is("--pause") });
  });
}
