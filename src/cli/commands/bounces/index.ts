import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { registerRangeExport } from "../../export/range.ts";
import { BOUNCES_EXPORT } from "./export.ts";
import { registerBouncesList } from "./list.ts";

export function register(noun: Command, context: CommandContext): void {
  registerBouncesList(noun, context);
  registerRangeExport(noun, context, BOUNCES_EXPORT);
}
