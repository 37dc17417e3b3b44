import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import { registerBouncesExport } from "./export.ts";
import { registerBouncesList } from "./list.ts";

export function register(noun: Command, context: CommandContext): void {
  registerBouncesList(noun, context);
  registerBouncesExport(noun, context);
}
