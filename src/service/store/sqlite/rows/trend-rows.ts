import type { Trend, TrendRows } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";
import { nextId } from "../sql/next-id.ts";
import type { PageAnchors } from "./page-anchors.ts";
import type { Session } from "../engine/session.ts";

export function createTrendRows(database: Database, session: Session, anchors: PageAnchors): TrendRows {
  return {
    insert: async (project, { name, where }) => {
      const id = nextId(database, project);
      database.run("INSERT INTO trends (project_id, id, name, created_at) VALUES (?, ?, ?, ?)", [
        project,
        id,
        name,
        session.now,
      ]);
      for (const [key, value] of Object.entries(where)) {
        database.run("INSERT INTO trend_conditions (project_id, trend_id, key, value) VALUES (?, ?, ?, ?)", [
          project,
          id,
          key,
          value,
        ]);
      }
      enterTrends(database, project, { trendId: id });
      return id;
    },
    list: async (project) => listTrends(database, project),
    exists: async (project, id) =>
      database.first("SELECT 1 AS one FROM trends WHERE project_id = ? AND id = ?", [project, id]) !== null,
    delete: async (project, id) => {
      anchors.forget(project);
      return database.run("DELETE FROM trends WHERE project_id = ? AND id = ?", [project, id]) > 0;
    },
  };
}

function listTrends(database: Database, project: number): Trend[] {
  const conditions = database.all(
    'SELECT trend_id AS "trendId", key, value FROM trend_conditions WHERE project_id = ? ORDER BY trend_id, key',
    [project],
  );
  const trends = database.all(
    'SELECT id, name, created_at AS "createdAt" FROM trends WHERE project_id = ? ORDER BY id',
    [project],
  );
  return trends.map((trend) => ({
    ...(trend as unknown as Omit<Trend, "where">),
    where: Object.fromEntries(
      conditions.filter(({ trendId }) => trendId === trend.id).map(({ key, value }) => [String(key), String(value)]),
    ),
  }));
}

/** A property's value as text, as the values of a trend are given. */
const VALUE_TEXT = "CASE e.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(e.value AS TEXT) END";

/** Enters one response into the trends whose every condition it meets, or all such responses into one new trend. */
export function enterTrends(
  database: Database,
  project: number,
  which: { readonly responseId: number } | { readonly trendId: number },
): void {
  const [column, id] = "trendId" in which ? ["t.id", which.trendId] : ["r.id", which.responseId];
  database.run(
    `INSERT INTO trend_responses (project_id, trend_id, response_id, created_at, updated_at, score)
     SELECT r.project_id, t.id, r.id, r.created_at, r.updated_at, r.score
     FROM trends t JOIN responses r ON r.project_id = t.project_id
     WHERE t.project_id = ? AND ${column} = ? AND NOT EXISTS (
       SELECT 1 FROM trend_conditions c WHERE c.project_id = t.project_id AND c.trend_id = t.id AND NOT EXISTS (
         SELECT 1 FROM json_each(r.person_properties) e WHERE e.key = c.key AND ${VALUE_TEXT} = c.value))`,
    [project, id],
  );
}
