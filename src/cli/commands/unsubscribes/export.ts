import { ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { UNSUBSCRIBES } from "../../render/resources.ts";
import { timedRowsRequest } from "../export-events.ts";
import { exportList } from "../export-list.ts";
import type { RangeExportOptions } from "../export-request.ts";
import { CREATED, pageList } from "../export-sources.ts";

export async function runUnsubscribesExport(deps: Deps, { flags, since, until, filterText }: RangeExportOptions): Promise<ExitCode> {
  const request = timedRowsRequest({
    command: "unsubscribes export",
    resource: UNSUBSCRIBES,
    idField: "person_id",
    timeField: "unsubscribed_at",
    list: (client, perPage) => pageList(client, { route: ROUTES.listUnsubscribes, parameters: { per_page: perPage } }, CREATED),
    range: { since, until },
    filterText,
  });
  return exportList(deps, request, flags);
}
