import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { registerRangeExport } from "../../export/range.ts";
import { UNSUBSCRIBES_EXPORT } from "./export.ts";
import { registerUnsubscribesList } from "./list.ts";

export function register(noun: Command, context: CommandContext): void {
  registerUnsubscribesList(noun, context);
  registerRangeExport(noun, context, UNSUBSCRIBES_EXPORT);
}
