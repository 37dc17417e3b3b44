import type { JsonObject } from "../../../contract/json.ts";
import { PER_PAGE_MAX, SCORE_MAX, SCORE_MIN } from "../../../contract/limits.ts";
import { type Expansion, ROUTES } from "../../../contract/routes.ts";
import type { RowPage } from "../../../contract/row-page.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { createProgress } from "../../kit/progress.ts";
import type { PropertyCondition } from "../../kit/rows/properties.ts";
import { type PropertyUse, watchProperties } from "../../kit/rows/watch-properties.ts";
import { noTrend, withRefusals } from "../../kit/refusals.ts";
import type { TimeFilter } from "../../kit/time-flags.ts";
import type { PageFilter } from "./row-filters.ts";
import { CREATED, keysOf, pagedList } from "../../export/sources.ts";

/** Selects responses in ways that the API doesn't offer: by score, words, properties and so on. */
export interface ResponseChoice {
  readonly filterPage: PageFilter;
  readonly conditions: readonly PropertyCondition[];
  readonly words: string;
}

export interface ResponseReading<Batch> extends Omit<PropertyUse, "conditions"> {
  readonly range: TimeFilter;
  readonly trend: string | null;
  readonly choice?: ResponseChoice | null;
  readonly expand?: readonly Expansion[];
  /** Reduces each page, for example to counts, to keep memory use constant. Pages can come in any order. */
  readonly toBatch: (rows: readonly JsonObject[]) => Batch;
  /** Called with the batches in order of time. If it throws, reading ends. */
  readonly take: (batch: Batch) => void;
}

export async function readResponses<Batch>(deps: Deps, reading: ResponseReading<Batch>): Promise<void> {
  const { range, trend, choice = null, expand = [], toBatch, take } = reading;
  const [{ readList }, { createSnapshot }] = await Promise.all([
    import("../../../bulk/export/read-list.ts"),
    import("../../export/snapshot.ts"),
  ]);
  const watched = watchProperties(deps, "responses", { ...reading, conditions: choice?.conditions });
  await withClient(watched, async (client) => {
    const call = {
      route: ROUTES.listResponses,
      parameters: { trend, per_page: PER_PAGE_MAX, ...(expand.length > 0 && { expand: [...expand] }) },
    };
    const list = pagedList(client, call, CREATED);
    const source = { keys: keysOf("id", "created_at"), range };
    const snapshot = createSnapshot(list, source, deps.clock, deps.signal);
    const batches = readList({
      ...source,
      list,
      perPage: PER_PAGE_MAX,
      concurrency: deps.options.concurrency,
      toBatch: (page: RowPage) => ({ batch: toBatch((choice?.filterPage(page) ?? page).rows), rows: page.rows.length }),
      fixUntil: snapshot.fixUntil,
      signal: deps.signal,
    });
    const progress = createProgress(deps, "responses");
    const walk = async (): Promise<void> => {
      let count = 0;
      for await (const { batch, rows } of batches) {
        take(batch);
        count += rows;
        await progress.update(count);
      }
    };
    try {
      await withRefusals(walk(), noTrend(trend));
      deps.signal.throwIfAborted();
    } finally {
      await progress.end();
    }
  });
}

/** Null for rows without a valid score, and for other survey types. */
export function scoreOf({ score, survey_type: surveyType = "nps" }: JsonObject): number | null {
  if (surveyType !== "nps") return null;
  const isScore = typeof score === "number" && Number.isInteger(score) && score >= SCORE_MIN && score <= SCORE_MAX;
  return isScore ? score : null;
}
