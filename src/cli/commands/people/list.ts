import type { Command } from "commander";
import { parseEmail, parsePhone } from "../../args/people.ts";
import type { Deps } from "../../command/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { PEOPLE } from "../../render/resources.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { LIST_FLAGS, listRows, readLimits, type ListLimits } from "../../command/list-rows.ts";
import { watchProperties } from "../../command/rows/watch-properties.ts";
import { rangeFlags, readRange } from "../../command/time-flags.ts";
import {
  createPersonFilter,
  needsProperties,
  PERSON_FILTER_FLAGS,
  type PersonFilters,
  readPersonFilters,
  filterPages,
  WITH_PROPERTIES,
} from "./person-filters.ts";

export interface PeopleListOptions {
  readonly limits: ListLimits;
  /** Unix seconds, inclusive; null is open. */
  readonly since: number | null;
  readonly until: number | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly filters: PersonFilters;
}

export function registerPeopleList(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list people in the order in which they were created",
    examples: [
      "surveyctl people list --since 7d",
      "surveyctl people list --unanswered --not-surveyed-since 30d --all --columns email",
      "surveyctl people list --domain example.com --property plan=pro --count",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [
      ...rangeFlags("created"),
      { flag: "--email", value: "email", text: "only the person with this address" },
      { flag: "--phone", value: "phone", text: "only the person with this number (E.164)" },
      ...PERSON_FILTER_FLAGS,
      ...LIST_FLAGS,
    ],
    columns: PEOPLE,
  });
  context.action(command, (deps, flags) =>
    runPeopleList(deps, {
      limits: readLimits(flags),
      ...readRange(deps, flags),
      email: flags.parse("--email", parseEmail),
      phone: flags.parse("--phone", parsePhone),
      filters: readPersonFilters(deps, flags),
    }),
  );
}

export async function runPeopleList(
  deps: Deps,
  { limits, since, until, email, phone, filters }: PeopleListOptions,
): Promise<ExitCode> {
  if (email !== null && phone !== null) throw new UsageError("--email and --phone cannot be used together");
  const filterPage = createPersonFilter(filters);
  const more = needsProperties(deps, filters) ? WITH_PROPERTIES : {};
  return listRows(watchProperties(deps, "people", { conditions: filters.properties }), {
    resource: PEOPLE,
    limits,
    parameters: { since, until, email, phone_number: phone, ...more },
    pages: (client, parameters, options) => filterPages(client.listPeople(parameters, options), filterPage),
    isNarrowed: filterPage !== null,
  });
}
