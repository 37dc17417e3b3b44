import type { Command } from "commander";
import { EXPANSIONS, RESPONSE_ORDERS, type ResponseOrder } from "../../../contract/routes.ts";
import { parseChoice, parseChoices } from "../../args/choice.ts";
import type { Flags } from "../../args/flags.ts";
import { parseEmail } from "../../args/people.ts";
import type { Deps } from "../../deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { chooseFormat } from "../../render/list-output.ts";
import { RESPONSES } from "../../render/resources.ts";
import { choiceOption, choicesOption } from "../choice-option.ts";
import type { CommandContext } from "../command-context.ts";
import { addListFlags, readLimits } from "../list-flags.ts";
import { listRows, type ListLimits } from "../list-rows.ts";
import { addRangeFlags, readRange, readTime } from "../time-flags.ts";

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

export function registerResponsesList(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list survey responses",
    examples: ["surveyctl responses list --order desc --limit 10", "surveyctl responses list --since 7d --all --columns score,comment"],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
  });
  addRangeFlags(command, "created");
  command
    .option("--updated-since <time>", "updated at or after")
    .option("--updated-until <time>", "updated at or before")
    .option("--trend <id>", "only those of a trend")
    .option("--person-id <id>", "only those of one person")
    .option("--person-email <email>", "only those of one person")
    .addOption(choiceOption("--order <order>", "order of the rows; without it oldest first", RESPONSE_ORDERS))
    .addOption(choicesOption("--expand <what>", "what comes whole and not as an id; without it what the columns need", EXPANSIONS));
  addListFlags(command);
  context.action(command, (deps, flags) => runResponsesList(deps, readOptions(deps, flags)));
}

function readOptions(deps: Deps, flags: Flags): ResponsesListOptions {
  const expand = parseChoices(flags.all("--expand"), "--expand", EXPANSIONS);
  return {
    limits: readLimits(flags),
    ...readRange(deps, flags),
    updatedSince: readTime(deps, flags, "--updated-since", "first"),
    updatedUntil: readTime(deps, flags, "--updated-until", "last"),
    trend: flags.text("--trend"),
    personId: flags.text("--person-id"),
    personEmail: flags.parse("--person-email", parseEmail),
    order: flags.parse("--order", (text, place) => parseChoice(text, place, RESPONSE_ORDERS)),
    expand: expand.length === 0 ? null : expand,
  };
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
