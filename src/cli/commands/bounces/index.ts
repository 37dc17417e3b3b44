import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { type RangeExport, registerRangeExport } from "../../export/range.ts";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { BOUNCES } from "../../render/resources.ts";
import { LIST_FLAGS, type ListLimits, listRows, readLimits } from "../../command/list-rows.ts";
import { rangeFlags, readRange } from "../../command/time-flags.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { CREATED, pageList } from "../../export/sources.ts";

export function register(noun: Command, context: CommandContext): void {
  registerBouncesList(noun, context);
  registerRangeExport(noun, context, BOUNCES_EXPORT);
}

export interface BouncesListOptions {
  readonly limits: ListLimits;
  /** Unix seconds, inclusive; null is open. */
  readonly since: number | null;
  readonly until: number | null;
}

export function registerBouncesList(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list people who bounced, oldest first",
    examples: ["surveyctl bounces list --since 7d", "surveyctl bounces list --all -o csv > bounces.csv"],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [...rangeFlags("bounced"), ...LIST_FLAGS],
    columns: BOUNCES,
  });
  context.action(command, (deps, flags) =>
    runBouncesList(deps, { limits: readLimits(flags), ...readRange(deps, flags) }),
  );
}

export function runBouncesList(deps: Deps, { limits, since, until }: BouncesListOptions): Promise<ExitCode> {
  return listRows(deps, {
    resource: BOUNCES,
    limits,
    parameters: { since, until },
    pages: (client, parameters, options) => client.listBounces(parameters, options),
  });
}

export const BOUNCES_EXPORT: RangeExport = {
  command: "bounces export",
  summary: "write every bounced person to a file or standard output",
  examples: [
    "surveyctl bounces export --out bounces.csv",
    "surveyctl bounces export --state bounces.state --append --out bounces.csv",
  ],
  what: "bounced",
  resource: BOUNCES,
  idField: "person_id",
  timeField: "bounced_at",
  list: (client, perPage) =>
    pageList(client, { route: ROUTES.listBounces, parameters: { per_page: perPage } }, CREATED),
};
