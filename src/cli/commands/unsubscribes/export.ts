import type { Command } from "commander";
import { ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { UNSUBSCRIBES } from "../../render/resources.ts";
import type { CommandContext } from "../command-context.ts";
import { timedRowsRequest } from "../bulk-export/export-events.ts";
import { registerRangeExport } from "../bulk-export/export-range.ts";
import type { RangeExportOptions } from "../bulk-export/export-request.ts";
import { CREATED, pageList } from "../bulk-export/export-sources.ts";

export function registerUnsubscribesExport(noun: Command, context: CommandContext): void {
  registerRangeExport(noun, context, {
    summary: "write every unsubscribed person to a file or standard output",
    examples: [
      "surveyctl unsubscribes export --out unsubscribes.csv",
      "surveyctl unsubscribes export --state unsubscribes.state --append --out unsubscribes.csv",
    ],
    what: "unsubscribed",
    run: runUnsubscribesExport,
  });
}

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
  const { exportList } = await import("../bulk-export/export-list.ts");
  return exportList(deps, request, flags);
}
