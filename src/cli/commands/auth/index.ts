import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { registerList } from "./list.ts";
import { registerLogin } from "./login.ts";
import { registerLogout } from "./logout.ts";
import { registerStatus } from "./status.ts";
import { registerUse } from "./use.ts";

export function register(noun: Command, context: CommandContext): void {
  for (const add of [registerLogin, registerLogout, registerStatus, registerList, registerUse]) add(noun, context);
}
