import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { registerPeopleAdd } from "./add.ts";
import { registerPeopleGet } from "./get.ts";
import { type RangeExport, registerRangeExport } from "../../export/range.ts";
import { registerPeopleImport } from "./import.ts";
import { registerPeopleList } from "./list.ts";
import { registerPeopleUpdate } from "./update.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { PEOPLE } from "../../render/resources.ts";
import { CREATED, cursorList } from "../../export/sources.ts";

export function register(noun: Command, context: CommandContext): void {
  registerPeopleList(noun, context);
  registerPeopleGet(noun, context);
  registerPeopleAdd(noun, context);
  registerPeopleUpdate(noun, context);
  registerPeopleImport(noun, context);
  registerRangeExport(noun, context, PEOPLE_EXPORT);
}

export const PEOPLE_EXPORT: RangeExport = {
  command: "people export",
  summary: "write everyone to a file or standard output",
  examples: [
    "surveyctl people export --out people.csv",
    "surveyctl people export --state people.state --append --out people.csv",
  ],
  what: "created",
  resource: PEOPLE,
  idField: "id",
  timeField: "created_at",
  list: (client, perPage) =>
    cursorList(client, { route: ROUTES.listPeople, parameters: { per_page: perPage } }, CREATED),
};
