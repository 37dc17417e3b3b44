import type { Deps } from "../../deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { BOUNCES } from "../../render/resources.ts";
import { listRows, type ListLimits } from "../list-rows.ts";

export interface BouncesListOptions {
  readonly limits: ListLimits;
  /** Unix seconds, inclusive; null is open. */
  readonly since: number | null;
  readonly until: number | null;
}

export function runBouncesList(deps: Deps, { limits, since, until }: BouncesListOptions): Promise<ExitCode> {
  return listRows(deps, {
    resource: BOUNCES,
    limits,
    parameters: { since, until },
    pages: (client, parameters, options) => client.listBounces(parameters, options),
  });
}
