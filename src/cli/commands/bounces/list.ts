import type { Command } from "commander";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { BOUNCES } from "../../render/resources.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { LIST_FLAGS, listRows, readLimits, type ListLimits } from "../../command/list-rows.ts";
import { rangeFlags, readRange } from "../../command/time-flags.ts";

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
