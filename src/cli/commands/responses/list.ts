import type { Command } from "commander";
import type { Page } from "../../../client/client.ts";
import type { Json } from "../../../contract/json.ts";
import { keepRows } from "../../../contract/row-page.ts";
import { RESPONSE_ORDERS, type ResponseOrder } from "../../../contract/routes.ts";
import { parseChoice } from "../../args/values.ts";
import type { Deps } from "../../command/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { RESPONSES } from "../../render/resources.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { LIST_FLAGS, type ListLimits, listRows, readLimits } from "../../command/list-rows.ts";
import { noTrend, withRefusals } from "../../command/refusals.ts";
import { forSelection } from "./selection/selection.ts";
import {
  NO_ROW_FILTERS,
  ROW_FLAGS,
  createPageFilter,
  readRowFilters,
  type RowFilters,
  type PageFilter,
  withSearch,
} from "./selection/row-filters.ts";
import { REDACT_FLAG, createRedaction, type Redaction } from "./selection/redaction.ts";
import {
  countResponses,
  EXPAND_DEFAULT,
  FILTER_FLAGS,
  expandFlag,
  neededExpansions,
  isCountable,
  isCounted,
  readFilters,
  toFilterParameters,
  type ResponseFilters,
} from "./selection/service-filters.ts";

/** `expand` null: what the columns need. */
export interface ResponsesListOptions extends ResponseFilters {
  readonly rows?: RowFilters;
  readonly redact?: boolean;
  readonly limits: ListLimits;
  readonly order: ResponseOrder | null;
}

export function registerResponsesList(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list survey responses",
    examples: [
      "surveyctl responses list --newest --limit 10",
      "surveyctl responses list --since 7d --all --columns score,comment",
      "surveyctl responses list --score 0-6 --search 'refund|invoice' --property plan=pro",
      "surveyctl responses list --has-comment --redact --all -o ndjson",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [
      ...FILTER_FLAGS,
      ...ROW_FLAGS,
      REDACT_FLAG,
      {
        flag: "--order",
        value: "order",
        text: "order of the rows",
        choices: RESPONSE_ORDERS,
        otherwise: "oldest first",
      },
      { flag: "--newest", text: "newest first, as --order desc" },
      expandFlag(EXPAND_DEFAULT),
      ...LIST_FLAGS,
    ],
    columns: RESPONSES,
  });
  context.action(command, (deps, flags) => {
    const given = flags.parse("--order", (text, place) => parseChoice(text, place, RESPONSE_ORDERS));
    if (given !== null && flags.is("--newest")) throw new UsageError("--newest and --order cannot be used together");
    const order = flags.is("--newest") ? "desc" : given;
    return runResponsesList(deps, {
      limits: readLimits(flags),
      ...readFilters(deps, flags),
      rows: readRowFilters(flags),
      redact: flags.is("--redact"),
      order,
    });
  });
}

export async function runResponsesList(deps: Deps, options: ResponsesListOptions): Promise<ExitCode> {
  const { limits, since, until, order, rows = NO_ROW_FILTERS } = options;
  const asked = options.expand ?? neededExpansions(deps);
  const redaction = options.redact === true ? createRedaction(deps, asked) : null;
  const expand = redaction?.expand ?? asked;
  const filterPage = createPageFilter(rows);
  const listed = listRows(forSelection(deps, options), {
    resource: withSearch(RESPONSES, rows),
    limits,
    parameters: { since, until, ...toFilterParameters(options), order, expand: expand === null ? null : [...expand] },
    pages: (client, parameters, callOptions) =>
      shapePages(client.listResponses(parameters, callOptions), filterPage, redaction),
    isNarrowed: filterPage !== null,
    ...(!order?.includes("updated_at") && { first: order === "desc" ? "newest" : "oldest" }),
    ...(filterPage === null &&
      isCountable(options) && {
        count: {
          noun: "responses",
          ask: (client, callOptions) => countResponses(client, options, callOptions),
          isCounted,
        },
      }),
  });
  const exit = await withRefusals(listed, noTrend(options.trend));
  await redaction?.writeNotes();
  return exit;
}

/**
 * The same pages with the rows that are wanted, as they are to be shown. A response that arrives moves others on to the
 * next page, where they are repeated.
 */
async function* shapePages(
  pages: AsyncGenerator<Page>,
  filterPage: PageFilter | null,
  redaction: Redaction | null,
): AsyncGenerator<Page> {
  let before = new Set<Json | undefined>();
  for await (const page of pages) {
    const fresh = keepRows(page, ({ id }) => id === undefined || !before.has(id));
    before = new Set(page.rows.map(({ id }) => id));
    const wanted = filterPage === null ? fresh : filterPage(fresh);
    const { rows, text } = redaction === null ? wanted : redaction.page(wanted);
    yield { ...page, rows, text };
  }
}
