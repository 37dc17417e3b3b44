import type { Deps } from "../../deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { PEOPLE } from "../../render/resources.ts";
import { listRows, type ListLimits } from "../list-rows.ts";

export interface PeopleListOptions {
  readonly limits: ListLimits;
  /** Unix seconds, inclusive; null is open. */
  readonly since: number | null;
  readonly until: number | null;
  readonly email: string | null;
  readonly phone: string | null;
}

export async function runPeopleList(deps: Deps, { limits, since, until, email, phone }: PeopleListOptions): Promise<ExitCode> {
  if (email !== null && phone !== null) throw new UsageError("--email and --phone cannot be used together; give one of them");
  return listRows(deps, {
    resource: PEOPLE,
    limits,
    parameters: { since, until, email, phone_number: phone },
    pages: (client, parameters, options) => client.listPeople(parameters, options),
  });
}
