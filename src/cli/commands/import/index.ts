import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { registerClean } from "./clean.ts";
import { registerStatus } from "./status.ts";

export function register(noun: Command, context: CommandContext): void {
  for (const add of [registerStatus, registerClean]) add(noun, context);
}
