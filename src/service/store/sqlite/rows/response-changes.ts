/** Storing, changing and deleting responses: with each, its trends and the counts of every list that it is in. */
import type { Properties } from "../../../../contract/resources.ts";
import { meetsConditions } from "../../../domain/trends.ts";
import type { Database } from "../engine/database.ts";
import type { SqlRow } from "../engine/engine.ts";
import { RESPONSE_TIMES, responsesBy } from "../lists/counted-lists.ts";
import type { ListBlocks } from "../lists/list-blocks.ts";

/** What places a response in lists. */
export interface PlacedResponse {
  readonly id: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly score: number;
}

/** Counts a response in its project, or one of its trends; `1` for one that came, `-1` for one that went. */
function count(blocks: ListBlocks, project: number, trendId: number | null, row: PlacedResponse, by: 1 | -1): void {
  const times = { created_at: row.createdAt, updated_at: row.updatedAt };
  for (const time of RESPONSE_TIMES) {
    const other = time === "created_at" ? row.updatedAt : row.createdAt;
    const entry = { key: [times[time], row.id] as const, other, score: row.score };
    const list = responsesBy(project, trendId, time);
    if (by === 1) blocks.add(list, entry);
    else blocks.remove(list, entry);
  }
}

/** Counts a response that was just stored and enters it into the trends whose every condition it meets. */
export function enterResponse(
  database: Database,
  blocks: ListBlocks,
  project: number,
  row: PlacedResponse,
  properties: Properties,
): void {
  count(blocks, project, null, row, 1);
  for (const trendId of matchingTrends(database, project, properties)) {
    enterTrend(database, blocks, project, trendId, row);
  }
}

/** Takes a response out of counts and trends, before it is stored anew or after it was deleted. */
export function leaveResponse(database: Database, blocks: ListBlocks, project: number, row: PlacedResponse): void {
  count(blocks, project, null, row, -1);
  const which = [project, row.id];
  const trends = database.all(
    "SELECT trend_id AS id FROM trend_responses WHERE project_id = ? AND response_id = ?",
    which,
  );
  if (trends.length === 0) return;
  database.run("DELETE FROM trend_responses WHERE project_id = ? AND response_id = ?", which);
  for (const { id } of trends) count(blocks, project, Number(id), row, -1);
}

export function deleteResponse(database: Database, blocks: ListBlocks, project: number, row: SqlRow): void {
  const [id, createdAt, updatedAt] = [Number(row.id), Number(row.created_at), Number(row.updated_at)];
  leaveResponse(database, blocks, project, { id, createdAt, updatedAt, score: Number(row.score) });
  database.run("DELETE FROM responses WHERE project_id = ? AND id = ?", [project, id]);
}

export function enterTrend(
  database: Database,
  blocks: ListBlocks,
  project: number,
  trendId: number,
  row: PlacedResponse,
): void {
  const { id, createdAt, updatedAt, score } = row;
  const entered = database.run(
    `INSERT INTO trend_responses (project_id, trend_id, response_id, created_at, updated_at, score)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    [project, trendId, id, createdAt, updatedAt, score],
  );
  if (entered > 0) count(blocks, project, trendId, row, 1);
}

function matchingTrends(database: Database, project: number, properties: Properties): number[] {
  const rows = database.all(
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
  return [...trends].filter(([, where]) => meetsConditions(properties, where)).map(([id]) => id);
}
