import { ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { PEOPLE } from "../../render/resources.ts";
import { timedRowsRequest } from "../export-events.ts";
import { exportList } from "../export-list.ts";
import type { RangeExportOptions } from "../export-request.ts";
import { CREATED, cursorList } from "../export-sources.ts";

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
  return exportList(deps, request, flags);
}
