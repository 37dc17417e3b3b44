import type { Client } from "../../../client/client.ts";
import { personIdOf } from "../../../client/write/look-up.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { keepRows, type RowPage } from "../../../contract/row-page.ts";
import { inParallel } from "../../../runtime/parallel.ts";
import type { Deps } from "../../kit/deps.ts";
import { timeOf } from "../../export/sources.ts";
import { scoreOf } from "../shared/read-responses.ts";

/** Number of a person's answers to request when looking for the previous one. */
const LOOKED_AT = 20;

/** Keeps the responses of people whose previous answer had one of these scores. Makes one request per row. */
export async function keepMoved(
  deps: Deps,
  client: Client,
  page: RowPage,
  before: ReadonlySet<number>,
): Promise<RowPage> {
  const isMoved = await inParallel(page.rows, deps.options.concurrency, async (row) => {
    const score = await previousScore(client, row, deps.signal);
    return score !== null && before.has(score);
  });
  return keepRows(page, (_, index) => isMoved[index] === true);
}

async function previousScore(client: Client, row: JsonObject, signal: AbortSignal): Promise<number | null> {
  const [person, at] = [personIdOf(row), timeOf(row, "created_at")];
  if (person === "" || at === null) return null;
  const parameters = { person_id: person, until: at, order: "desc", per_page: LOOKED_AT };
  for await (const { rows } of client.listResponses(parameters, { signal })) {
    const earlier = rows.filter(
      (one) => personIdOf(one) === person && scoreOf(one) !== null && isEarlier(one, row, at),
    );
    const [latest] = earlier.toSorted((one, other) =>
      isEarlier(one, other, timeOf(other, "created_at") ?? 0) ? 1 : -1,
    );
    return latest === undefined ? null : scoreOf(latest);
  }
  return null;
}

/** Ids break ties within the same second. */
function isEarlier(one: JsonObject, other: JsonObject, otherAt: number): boolean {
  const at = timeOf(one, "created_at") ?? Infinity;
  return at < otherAt || (at === otherAt && Number(one["id"]) < Number(other["id"]));
}
