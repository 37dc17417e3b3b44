import type { Client } from "../../../client/client.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { CommandNode } from "../../kit/command-node.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { LIMITS, listRows } from "../../kit/rows/list-rows.ts";
import { timeRange } from "../../kit/time-flags.ts";
import { EXPORT_EXITS, exportFile, textOfFilters, toRangeRequest } from "../../export/request.ts";
import { CREATED, pagedList } from "../../export/sources.ts";
import type { Resource } from "../../render/columns.ts";

interface SuppressionList {
  readonly noun: "bounces" | "unsubscribes";
  readonly verb: "bounced" | "unsubscribed";
  readonly columns: Resource;
  readonly method: "listBounces" | "listUnsubscribes";
}

export function suppressionCommands({ noun, verb, columns, method }: SuppressionList): readonly CommandNode[] {
  const list = defineCommand({
    name: "list",
    summary: `list people who ${verb}, oldest first`,
    examples: [`surveyctl ${noun} list --since 7d`, `surveyctl ${noun} list --all -o csv > ${noun}.csv`],
    flags: { range: timeRange(verb), limits: LIMITS },
    columns,
    run: (deps, input) =>
      listRows(deps, {
        resource: columns,
        limits: input.limits,
        parameters: { ...input.range },
        pages: (client, parameters, options) => client[method](parameters, options),
      }),
  });
  const rows = {
    command: `${noun} export`,
    resource: columns,
    idField: "person_id",
    timeField: `${verb}_at`,
    list: (client: Client, perPage: number) =>
      pagedList(client, { route: ROUTES[method], parameters: { per_page: perPage } }, CREATED),
  };
  const exportAll = defineCommand({
    name: "export",
    summary: `write every ${verb} person to a file or standard output`,
    examples: [
      `surveyctl ${noun} export --out ${noun}.csv`,
      `surveyctl ${noun} export --state ${noun}.state --append --out ${noun}.csv`,
    ],
    exits: EXPORT_EXITS,
    flags: { range: timeRange(verb), filterText: textOfFilters("--since", "--until"), file: exportFile("new") },
    columns,
    run: async (deps, { range, file, filterText }) => {
      const { exportList } = await import("../../export/list.ts");
      return exportList(deps, toRangeRequest(rows, range, filterText), file);
    },
  });
  return [list, exportAll];
}
