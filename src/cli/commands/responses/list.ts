import type { Client, Page } from "../../../client/client.ts";
import type { Json } from "../../../contract/json.ts";
import { keepRows, type RowPage } from "../../../contract/row-page.ts";
import { RESPONSE_ORDERS } from "../../../contract/routes.ts";
import { LIMITS, listRows } from "../../kit/rows/list-rows.ts";
import { noTrend, withRefusals } from "../../kit/refusals.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { RESPONSES } from "../../render/resources.ts";
import {
  countResponses,
  EXPAND,
  forSelection,
  isCountable,
  isCounted,
  neededExpansions,
  SELECTION,
  toFilterParameters,
  withSearch,
} from "./selection.ts";
import { parseScores } from "../shared/row-filters.ts";
import { keepMoved } from "./previous-answer.ts";
import { createShaping, type Shaping } from "./shaping.ts";

export const list = defineCommand({
  name: "list",
  summary: "list survey responses",
  examples: [
    "surveyctl responses list --newest --limit 10",
    "surveyctl responses list --since 7d --all --columns score,comment",
    "surveyctl responses list --score 0-6 --search 'refund|invoice' --property plan=pro",
    "surveyctl responses list --since 30d --score 0-6 --was 9-10",
    "surveyctl responses list --has-comment --redact --all -o ndjson",
  ],
  flags: {
    selection: SELECTION,
    order: { value: "order", text: "order of the rows", choices: RESPONSE_ORDERS, otherwise: "oldest first" },
    was: {
      value: "scores",
      text: "only people whose answer before it had these scores, such as 9-10, however long ago",
      parse: parseScores,
    },
    newest: { text: "newest first; same as --order desc", conflicts: ["--order"] },
    expand: EXPAND,
    limits: LIMITS,
  },
  columns: RESPONSES,
  async run(deps, { selection, newest, limits, was, ...input }) {
    const { created, rows, trend } = selection;
    const order = newest ? "desc" : input.order;
    const shaping = await createShaping(deps, selection, input.expand ?? neededExpansions(deps));
    const isFiltered = shaping.filterPage !== null || was !== null;
    const select = async (client: Client, page: RowPage): Promise<RowPage> =>
      was === null ? page : keepMoved(deps, client, shaping.filterPage?.(page) ?? page, was);
    const listed = listRows(forSelection(deps, selection), {
      resource: withSearch(rows),
      limits,
      parameters: { ...created, ...toFilterParameters(selection), order, expand: shaping.expand },
      pages: (client, parameters, options) =>
        shapePages(client.listResponses(parameters, options), shaping, (page) => select(client, page)),
      isNarrowed: isFiltered,
      ...(!order?.includes("updated_at") && { first: order === "desc" ? "newest" : "oldest" }),
      ...(!isFiltered &&
        isCountable(selection) && {
          count: {
            noun: "responses",
            ask: (client, options) => countResponses(client, created, trend, options),
            isCounted,
          },
        }),
    });
    await withRefusals(listed, noTrend(trend));
    await shaping.writeNotes();
  },
});

/**
 * Drops rows that the previous page already had: a response that arrives between two requests pushes others onto the
 * next page.
 */
async function* shapePages(
  pages: AsyncGenerator<Page>,
  shaping: Shaping,
  select: (page: RowPage) => Promise<RowPage>,
): AsyncGenerator<Page> {
  let before = new Set<Json | undefined>();
  for await (const page of pages) {
    const fresh = keepRows(page, ({ id }) => id === undefined || !before.has(id));
    before = new Set(page.rows.map(({ id }) => id));
    const { rows, text } = shaping.page(await select(fresh));
    yield { ...page, rows, text };
  }
}
