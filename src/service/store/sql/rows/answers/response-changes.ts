/** Storing, changing and deleting responses: with each, its trends and the counts of every list that it is in. */
import type { Properties } from "../../../../../contract/resources.ts";
import { utcDay } from "../../../../../runtime/zone.ts";
import { meetsConditions } from "../../../../domain/answers/trends.ts";
import { allIn, type Database } from "../../database.ts";
import { RESPONSE_TIMES, responsesBy } from "../../lists/counted-lists.ts";
import { type ListTallies } from "../../lists/list-tallies.ts";
import { forgetDays } from "./share-rows.ts";

/** The fields that place a response in lists. */
export interface PlacedResponse {
  readonly id: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly score: number;
  readonly surveyType: string;
}

/** The trends that responses are in. One that is being removed has no tally any more. */
const IN_TRENDS = `SELECT r.trend_id AS "trendId", r.response_id AS id FROM trend_responses r CROSS JOIN trends t
  WHERE t.project_id = r.project_id AND t.id = r.trend_id AND t.state <> 'removed' AND r.project_id = ? AND`;

/** The survey type whose scores make the score. */
const NPS = "nps";

/**
 * Counts responses in their project, or one of its trends; `1` for those that came, `-1` for those that went. Pages for
 * colleagues count their days again.
 */
function count(
  database: Database,
  tallies: ListTallies,
  project: number,
  trendId: number | null,
  rows: readonly PlacedResponse[],
  by: 1 | -1,
): void {
  const days = rows.map(({ createdAt }) => utcDay(createdAt));
  forgetDays(database, project, days);
  for (const time of RESPONSE_TIMES) {
    const counted = rows.map(({ createdAt, updatedAt, score, surveyType }) => ({
      at: time === "created_at" ? createdAt : updatedAt,
      score: surveyType === NPS ? score : null,
    }));
    tallies[by === 1 ? "add" : "remove"](responsesBy(project, trendId, time), ...counted);
  }
}

/** Counts a response that was just stored and enters it into the trends whose every condition it meets. */
export async function enterResponse(
  database: Database,
  tallies: ListTallies,
  project: number,
  row: PlacedResponse,
  properties: Properties,
): Promise<void> {
  await enterResponses(database, tallies, project, [{ row, properties: () => properties }]);
}

/** The same for many: those of one day are counted together. */
export async function enterResponses(
  database: Database,
  tallies: ListTallies,
  project: number,
  entered: readonly { readonly row: PlacedResponse; readonly properties: () => Properties }[],
): Promise<void> {
  count(
    database,
    tallies,
    project,
    null,
    entered.map(({ row }) => row),
    1,
  );
  for (const [trendId, where] of await readTrends(database, project)) {
    const meeting = entered.filter(({ properties }) => meetsConditions(properties(), where));
    if (meeting.length === 0) continue;
    await enterTrend(
      database,
      tallies,
      project,
      trendId,
      meeting.map(({ row }) => row),
    );
  }
}

/** Takes a response out of counts and trends, before it is stored anew or after it was deleted. */
export async function leaveResponse(
  database: Database,
  tallies: ListTallies,
  project: number,
  row: PlacedResponse,
): Promise<void> {
  count(database, tallies, project, null, [row], -1);
  const which = [project, row.id];
  const trends = await database.all(`${IN_TRENDS} r.response_id = ?`, which);
  database.send("DELETE FROM trend_responses WHERE project_id = ? AND response_id = ?", which);
  for (const { trendId } of trends) count(database, tallies, project, Number(trendId), [row], -1);
}

/** Deletes the oldest responses of a person, `limit` at most, and returns how many. */
export async function deleteResponsesOf(
  database: Database,
  tallies: ListTallies,
  project: number,
  person: number,
  limit: number,
): Promise<number> {
  const rows = (await database.all(
    `SELECT id, created_at AS "createdAt", updated_at AS "updatedAt", score, survey_type AS "surveyType" FROM responses
     WHERE project_id = ? AND person_id = ? ORDER BY created_at, id LIMIT ?`,
    [project, person, limit],
  )) as unknown as PlacedResponse[];
  await deleteResponses(database, tallies, project, rows);
  return rows.length;
}

/** Deletes responses; with each its places in trends. */
export async function deleteResponses(
  database: Database,
  tallies: ListTallies,
  project: number,
  rows: readonly PlacedResponse[],
): Promise<void> {
  if (rows.length === 0) return;
  const inTrends = await trendsOf(database, project, rows);
  for (const { id } of rows) database.send("DELETE FROM responses WHERE project_id = ? AND id = ?", [project, id]);
  count(database, tallies, project, null, rows, -1);
  for (const [trendId, left] of inTrends) count(database, tallies, project, trendId, left, -1);
}

/** Which of the responses are in each trend. */
async function trendsOf(
  database: Database,
  project: number,
  rows: readonly PlacedResponse[],
): Promise<ReadonlyMap<number, readonly PlacedResponse[]>> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const found = new Map<number, Map<number, PlacedResponse>>();
  for (const { trendId, id } of await allIn(database, `${IN_TRENDS} r.response_id IN`, [project], [...byId.keys()])) {
    const row = byId.get(Number(id));
    const trend = found.get(Number(trendId)) ?? new Map<number, PlacedResponse>();
    if (row !== undefined) found.set(Number(trendId), trend.set(row.id, row));
  }
  return new Map([...found].map(([trendId, trend]) => [trendId, [...trend.values()]]));
}

/** Stores responses as changed at `updatedAt`, wherever they are listed; `store` changes the rows themselves. */
export async function touchResponses(
  database: Database,
  tallies: ListTallies,
  project: number,
  rows: readonly PlacedResponse[],
  { updatedAt, store }: { readonly updatedAt: number; readonly store: (row: PlacedResponse) => void },
): Promise<void> {
  const places = [[null, rows] as const, ...(await trendsOf(database, project, rows))];
  for (const [trendId, some] of places) count(database, tallies, project, trendId, some, -1);
  for (const row of rows) {
    store(row);
    database.send("UPDATE trend_responses SET updated_at = ? WHERE project_id = ? AND response_id = ?", [
      updatedAt,
      project,
      row.id,
    ]);
  }
  const changed = (row: PlacedResponse): PlacedResponse => ({ ...row, updatedAt });
  for (const [trendId, some] of places) count(database, tallies, project, trendId, some.map(changed), 1);
}

/** Enters responses into a trend, but for those that are in it. */
export async function enterTrend(
  database: Database,
  tallies: ListTallies,
  project: number,
  trendId: number,
  rows: readonly PlacedResponse[],
): Promise<void> {
  const entered: PlacedResponse[] = [];
  for (const row of rows) {
    const { id, createdAt, updatedAt, score, surveyType } = row;
    const stored = await database.run(
      `INSERT INTO trend_responses (project_id, trend_id, response_id, created_at, updated_at, score, survey_type)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      [project, trendId, id, createdAt, updatedAt, score, surveyType],
    );
    if (stored > 0) entered.push(row);
  }
  if (entered.length > 0) count(database, tallies, project, trendId, entered, 1);
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
