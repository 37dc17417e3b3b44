import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { type RangeExport, registerRangeExport } from "../../export/range.ts";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { UNSUBSCRIBES } from "../../render/resources.ts";
import { LIST_FLAGS, type ListLimits, listRows, readLimits } from "../../command/list-rows.ts";
import { rangeFlags, readRange } from "../../command/time-flags.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { CREATED, pageList } from "../../export/sources.ts";

export function register(noun: Command, context: CommandContext): void {
  registerUnsubscribesList(noun, context);
  registerRangeExport(noun, context, UNSUBSCRIBES_EXPORT);
}

export interface UnsubscribesListOptions {
  readonly limits: ListLimits;
  /** Unix seconds, inclusive; null is open. */
  readonly since: number | null;
  readonly until: number | null;
}

export function registerUnsubscribesList(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list people who unsubscribed, oldest first",
    examples: ["surveyctl unsubscribes list --since 7d", "surveyctl unsubscribes list --all -o csv > unsubscribes.csv"],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [...rangeFlags("unsubscribed"), ...LIST_FLAGS],
    columns: UNSUBSCRIBES,
  });
  context.action(command, (deps, flags) =>
    runUnsubscribesList(deps, { limits: readLimits(flags), ...readRange(deps, flags) }),
  );
}

export function runUnsubscribesList(deps: Deps, { limits, since, until }: UnsubscribesListOptions): Promise<ExitCode> {
  return listRows(deps, {
    resource: UNSUBSCRIBES,
    limits,
    parameters: { since, until },
    pages: (client, parameters, options) => client.listUnsubscribes(parameters, options),
  });
}

export const UNSUBSCRIBES_EXPORT: RangeExport = {
  command: "unsubscribes export",
  summary: "write every unsubscribed person to a file or standard output",
  examples: [
    "surveyctl unsubscribes export --out unsubscribes.csv",
    "surveyctl unsubscribes export --state unsubscribes.state --append --out unsubscribes.csv",
  ],
  what: "unsubscribed",
  resource: UNSUBSCRIBES,
  idField: "person_id",
  timeField: "unsubscribed_at",
  list: (client, perPage) =>
    pageList(client, { route: ROUTES.listUnsubscribes, parameters: { per_page: perPage } }, CREATED),
};
