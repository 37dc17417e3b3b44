import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { registerPeopleAdd } from "./add.ts";
import { registerPeopleExport } from "./export.ts";
import { registerPeopleGet } from "./get.ts";
import { registerPeopleImport } from "./import.ts";
import { registerPeopleList } from "./list.ts";
import { registerPeopleShow } from "./show/index.ts";
import { registerPeopleUpdate } from "./update.ts";
import { registerPeopleChange } from "./change-people.ts";
import { PEOPLE_REMOVALS } from "./removals.ts";
import { registerPeopleResubscribe } from "./resubscribe.ts";

export function register(noun: Command, context: CommandContext): void {
  registerPeopleList(noun, context);
  registerPeopleGet(noun, context);
  registerPeopleShow(noun, context);
  registerPeopleAdd(noun, context);
  registerPeopleUpdate(noun, context);
  for (const verb of PEOPLE_REMOVALS) registerPeopleChange(noun, context, verb);
  registerPeopleResubscribe(noun, context);
  registerPeopleImport(noun, context);
  registerPeopleExport(noun, context);
}
