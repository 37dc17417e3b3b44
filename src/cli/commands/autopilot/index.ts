import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { registerAutopilotAdd } from "./add.ts";
import { registerAutopilotConfig } from "./config.ts";
import { registerAutopilotExport } from "./export.ts";
import { registerAutopilotImport } from "./import.ts";
import { registerAutopilotList } from "./list.ts";
import { registerAutopilotRemove } from "./remove.ts";

export function register(noun: Command, context: CommandContext): void {
  registerAutopilotList(noun, context);
  registerAutopilotAdd(noun, context);
  registerAutopilotRemove(noun, context);
  registerAutopilotConfig(noun, context);
  registerAutopilotImport(noun, context);
  registerAutopilotExport(noun, context);
}
