import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { registerResponsesAdd } from "./add.ts";
import { registerResponsesExport } from "./export.ts";
import { registerResponsesGet } from "./get.ts";
import { registerResponsesImport } from "./import.ts";
import { registerResponsesList } from "./list.ts";

export function register(noun: Command, context: CommandContext): void {
  registerResponsesList(noun, context);
  registerResponsesGet(noun, context);
  registerResponsesAdd(noun, context);
  registerResponsesImport(noun, context);
  registerResponsesExport(noun, context);
}
