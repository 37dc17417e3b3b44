import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { registerPeopleAdd } from "./add.ts";
import { registerPeopleGet } from "./get.ts";
import { registerRangeExport } from "../../export/range.ts";
import { PEOPLE_EXPORT } from "./export.ts";
import { registerPeopleImport } from "./import.ts";
import { registerPeopleList } from "./list.ts";
import { registerPeopleUpdate } from "./update.ts";

export function register(noun: Command, context: CommandContext): void {
  registerPeopleList(noun, context);
  registerPeopleGet(noun, context);
  registerPeopleAdd(noun, context);
  registerPeopleUpdate(noun, context);
  registerPeopleImport(noun, context);
  registerRangeExport(noun, context, PEOPLE_EXPORT);
}
