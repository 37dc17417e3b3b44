import type { EXPANSIONS, ResponseOrder } from "../../../contract/routes.ts";
import type { Deps } from "../../deps.ts";
import type { ExitCode } from "../../exit-codes.ts";
import { chooseFormat } from "../../render/list-output.ts";
import { RESPONSES } from "../../render/resources.ts";
import { listRows, type ListLimits } from "../list-rows.ts";

export type Expansion = (typeof EXPANSIONS)[number];

export interface ResponsesListOptions {
  readonly limits: ListLimits;
  /** Times are Unix seconds, inclusive; null is open. */
  readonly since: number | null;
  readonly until: number | null;
  readonly updatedSince: number | null;
  readonly updatedUntil: number | null;
  readonly trend: string | null;
  readonly personId: string | null;
  readonly personEmail: string | null;
  readonly order: ResponseOrder | null;
  /** Null: what the columns need. */
  readonly expand: readonly Expansion[] | null;
}

export async function runResponsesList(deps: Deps, options: ResponsesListOptions): Promise<ExitCode> {
  const expand = options.expand ?? neededExpansions(deps);
  return listRows(deps, {
    resource: RESPONSES,
    limits: options.limits,
    parameters: {
      since: options.since,
      until: options.until,
      updated_since: options.updatedSince,
      updated_until: options.updatedUntil,
      trend: options.trend,
      person_id: options.personId,
      person_email: options.personEmail,
      order: options.order,
      expand: expand === null ? null : [...expand],
    },
    pages: (client, parameters, callOptions) => client.listResponses(parameters, callOptions),
  });
}

/**
 * Columns of text show the person's e-mail and name, which only come expanded; asking for `person` alone would
 * turn the notes off (4.3). JSON stays what the service sends by itself; null asks for nothing.
 */
function neededExpansions(deps: Deps): readonly Expansion[] | null {
  const format = chooseFormat(deps);
  const names = deps.options.columns ?? (format === "json" || format === "ndjson" ? [] : RESPONSES.columns.map(({ name }) => name));
  return names.some((name) => /^person_(?:email|name)$|^person\./.test(name)) ? ["person", "notes"] : null;
}
