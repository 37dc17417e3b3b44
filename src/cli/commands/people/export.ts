import type { Command } from "commander";
import { ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { PEOPLE } from "../../render/resources.ts";
import type { CommandContext } from "../command-context.ts";
import { timedRowsRequest } from "../bulk-export/export-events.ts";
import { registerRangeExport } from "../bulk-export/export-range.ts";
import type { RangeExportOptions } from "../bulk-export/export-request.ts";
import { CREATED, cursorList } from "../bulk-export/export-sources.ts";

export function registerPeopleExport(noun: Command, context: CommandContext): void {
  registerRangeExport(noun, context, {
    summary: "write everyone to a file or standard output",
    examples: ["surveyctl people export --out people.csv", "surveyctl people export --state people.state --append --out people.csv"],
    what: "created",
    run: runPeopleExport,
  });
}

export async function runPeopleExport(deps: Deps, { flags, since, until, filterText }: RangeExportOptions): Promise<ExitCode> {
  const request = timedRowsRequest({
    command: "people export",
    resource: PEOPLE,
    idField: "id",
    timeField: "created_at",
    list: (client, perPage) => cursorList(client, { route: ROUTES.listPeople, parameters: { per_page: perPage } }, CREATED),
    range: { since, until },
    filterText,
  });
  const { exportList } = await import("../bulk-export/export-list.ts");
  return exportList(deps, request, flags);
}
