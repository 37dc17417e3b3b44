import type { Command } from "commander";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { UNSUBSCRIBES } from "../../render/resources.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { LIST_FLAGS, listRows, readLimits, type ListLimits } from "../../command/list-rows.ts";
import { rangeFlags, readRange } from "../../command/time-flags.ts";

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
