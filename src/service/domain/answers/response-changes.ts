/** Storing, changing and deleting responses: with each, its places in trends and the days that shared pages keep. */
import type { Properties } from "../../../contract/resources.ts";
import { utcDay } from "../../../runtime/zone.ts";
import { meetsConditions } from "./trend-conditions.ts";
import type { Database } from "../../sql/database.ts";
import { deleteRows, type Fragment, sendRow } from "../../sql/lists/counted-rows.ts";
import { forgetDays } from "../shares/share-rows.ts";

/** The fields that place a response in lists. */
export interface PlacedResponse {
  readonly id: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly score: number;
  readonly surveyType: string;
}

export interface EnteredResponse {
  readonly row: PlacedResponse;
  readonly properties: () => Properties;
}

/** Enters responses that were just stored into the trends whose every condition they meet. */
export async function enterResponses(
  database: Database,
  project: number,
  entered: readonly EnteredResponse[],
): Promise<void> {
  forgetDaysOf(
    database,
    project,
    entered.map(({ row }) => row),
  );
  for (const [trendId, where] of await readTrends(database, project)) {
    const meeting = entered.filter(({ properties }) => meetsConditions(properties(), where));
    enterTrend(
      database,
      project,
      trendId,
      meeting.map(({ row }) => row),
    );
  }
}

/** Takes a response out of all trends, before it is stored anew. */
export async function leaveResponse(database: Database, project: number, row: PlacedResponse): Promise<void> {
  forgetDaysOf(database, project, [row]);
  await deleteRows(database, "trend_responses", project, ["response_id = ?", row.id]);
}

/** Returns how many it deleted. */
export async function deleteResponses(database: Database, project: number, where: Fragment): Promise<number> {
  const deleted = await deleteRows(database, "responses", project, where);
  const days = deleted.map((row) => utcDay(Number(row["created_at"])));
  forgetDays(database, project, days);
  return deleted.length;
}

/** Enters responses that aren't in it. */
export function enterTrend(
  database: Database,
  project: number,
  trendId: number,
  rows: readonly PlacedResponse[],
): void {
  forgetDaysOf(database, project, rows);
  for (const { id, createdAt, updatedAt, score, surveyType } of rows)
    sendRow(database, "trend_responses", {
      project_id: project,
      trend_id: trendId,
      response_id: id,
      created_at: createdAt,
      updated_at: updatedAt,
      score,
      survey_type: surveyType,
    });
}

export function forgetDaysOf(database: Database, project: number, rows: readonly PlacedResponse[]): void {
  forgetDays(
    database,
    project,
    rows.map(({ createdAt }) => utcDay(createdAt)),
  );
}

/** Each trend's conditions. */
async function readTrends(database: Database, project: number): Promise<ReadonlyMap<number, Record<string, string>>> {
  const rows = await database.all(
    `SELECT c.trend_id AS id, c.key, c.value FROM trend_conditions c
     JOIN trends t ON t.project_id = c.project_id AND t.id = c.trend_id
     WHERE c.project_id = ? AND t.state <> 'removed' ORDER BY c.trend_id`,
    [project],
  );
  const trends = new Map<number, Record<string, string>>();
  for (const { id, key, value } of rows) {
    const where = trends.get(Number(id)) ?? {};
    trends.set(Number(id), Object.assign(where, { [String(key)]: String(value) }));
  }
  return trends;
}
