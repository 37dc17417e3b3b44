import type { Deps } from "../../deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { UNSUBSCRIBES } from "../../render/resources.ts";
import { listRows, type ListLimits } from "../list-rows.ts";

export interface UnsubscribesListOptions {
  readonly limits: ListLimits;
  /** Unix seconds, inclusive; null is open. */
  readonly since: number | null;
  readonly until: number | null;
}

export function runUnsubscribesList(deps: Deps, { limits, since, until }: UnsubscribesListOptions): Promise<ExitCode> {
  return listRows(deps, {
    resource: UNSUBSCRIBES,
    limits,
    parameters: { since, until },
    pages: (client, parameters, options) => client.listUnsubscribes(parameters, options),
  });
}
