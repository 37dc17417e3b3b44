import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { EXIT } from "../../exit-codes.ts";
import { printSchema } from "./print-schema.ts";

export function register(noun: Command, context: CommandContext): void {
  context.describe(noun, {
    operands: [["<command...>", "the words of a command, such as people list"]],
    examples: ["surveyctl schema people list", "surveyctl schema metrics"],
    exits: [EXIT.done],
  });
  context.action(noun, (deps, _flags, words) => printSchema(deps, words));
}
