import type { Command } from "commander";
import { ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { BOUNCES } from "../../render/resources.ts";
import type { CommandContext } from "../command-context.ts";
import { timedRowsRequest } from "../bulk-export/export-events.ts";
import { registerRangeExport } from "../bulk-export/export-range.ts";
import type { RangeExportOptions } from "../bulk-export/export-request.ts";
import { CREATED, pageList } from "../bulk-export/export-sources.ts";

export function registerBouncesExport(noun: Command, context: CommandContext): void {
  registerRangeExport(noun, context, {
    summary: "write every bounced person to a file or standard output",
    examples: ["surveyctl bounces export --out bounces.csv", "surveyctl bounces export --state bounces.state --append --out bounces.csv"],
    what: "bounced",
    run: runBouncesExport,
  });
}

export async function runBouncesExport(deps: Deps, { flags, since, until, filterText }: RangeExportOptions): Promise<ExitCode> {
  const request = timedRowsRequest({
    command: "bounces export",
    resource: BOUNCES,
    idField: "person_id",
    timeField: "bounced_at",
    list: (client, perPage) => pageList(client, { route: ROUTES.listBounces, parameters: { per_page: perPage } }, CREATED),
    range: { since, until },
    filterText,
  });
  const { exportList } = await import("../bulk-export/export-list.ts");
  return exportList(deps, request, flags);
}
