import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { EXIT } from "../../exit-codes.ts";

export function register(noun: Command, context: CommandContext): void {
  context.describe(noun, {
    examples: ["surveyctl mcp", "surveyctl mcp --profile reports"],
    exits: [EXIT.done, EXIT.auth],
  });
  context.action(noun, async (deps) => {
    const { serveTools } = await import("./serve-tools.ts");
    return serveTools(deps);
  });
}
