import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import { registerUnsubscribesExport } from "./export.ts";
import { registerUnsubscribesList } from "./list.ts";

export function register(noun: Command, context: CommandContext): void {
  registerUnsubscribesList(noun, context);
  registerUnsubscribesExport(noun, context);
}
