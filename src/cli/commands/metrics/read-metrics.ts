/** Metrics from the service, one period or many at once (4.7). */
import type { Client, Parameters } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { CONCURRENCY_DEFAULT } from "../../args/global-options.ts";
import type { RecordValue } from "../../render/record-output.ts";
import { withChanges } from "./compare.ts";
import type { Period } from "./periods.ts";

export interface MetricsFilters {
  readonly trend: string | null;
  readonly groups: readonly string[] | null;
}

export interface Reading {
  readonly client: Client;
  readonly filters: MetricsFilters;
  readonly concurrency: number | null;
  readonly signal: AbortSignal;
}

export function toParameters(
  { trend, groups }: MetricsFilters,
  since: number | null,
  until: number | null,
): Parameters {
  return { since, until, trend, groups: groups === null ? null : [...groups] };
}

/** Where nobody answered there is no score: the service's 0 would be taken for one. */
export function withoutFalseScore(value: RecordValue): RecordValue {
  if (value.json["response_count"] !== 0 || typeof value.json["nps"] !== "number") return value;
  const json = { ...value.json, nps: null };
  return { json, text: JSON.stringify(json) };
}

/** One object a period: `{"period","since","until", …the API's fields}`, and the changes when `before` is given. */
export async function readPeriods(
  reading: Reading,
  periods: readonly Period[],
  before: Period | null,
): Promise<JsonObject[]> {
  const all = before === null ? periods : [before, ...periods];
  const answers = await inParallel(all, reading.concurrency ?? CONCURRENCY_DEFAULT, async ({ since, until }) => {
    const reply = await reading.client.getMetrics(toParameters(reading.filters, since, until), {
      signal: reading.signal,
    });
    return withoutFalseScore(reply).json;
  });
  const shown =
    before === null ? answers : answers.slice(1).map((answer, index) => withChanges(answer, answers[index] ?? {}));
  return shown.map((metrics, index) => ({ ...periods[index], ...metrics }));
}

/** Results in the order of the items; the first failure is the failure of all. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
