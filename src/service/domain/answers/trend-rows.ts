import type { Properties } from "../../../contract/resources.ts";
import { meetsConditions } from "./trend-conditions.ts";
import type { Database, Session } from "../../sql/database.ts";
import { nextId } from "../projects/project-rows.ts";
import { responsesBy } from "../../sql/lists/counted-lists.ts";
import { deleteRows } from "../../sql/lists/counted-rows.ts";
import { forgetCounts } from "../../sql/lists/list-counts.ts";
import { STEP, type LongChange, type LongChanges } from "../../sql/long-changes.ts";
import { enterTrend, type PlacedResponse } from "./response-changes.ts";

/** A saved filter: every named property has, as text, this value. */
export interface Trend {
  readonly id: number;
  readonly name: string;
  readonly where: Readonly<Record<string, string>>;
  readonly createdAt: number;
}

export class TrendRows {
  readonly #database: Database;
  readonly #session: Session;
  readonly #changes: LongChanges;

  constructor(database: Database, session: Session, changes: LongChanges) {
    this.#database = database;
    this.#session = session;
    this.#changes = changes;
  }

  /** The new trend's id. The responses that are there already enter it by and by; see `Store.settle`. */
  async insert(
    project: number,
    trend: { readonly name: string; readonly where: Readonly<Record<string, string>> },
  ): Promise<number> {
    const id = await insertTrend(this.#database, this.#session, project, trend);
    await this.#changes.begin({ project, kind: "fill trend", target: String(id) });
    return id;
  }

  async list(project: number): Promise<readonly Trend[]> {
    const trends = await this.#database.all(
      `SELECT id, name, created_at AS "createdAt" FROM trends WHERE project_id = ? AND state <> 'removed' ORDER BY id`,
      [project],
    );
    const found: Trend[] = [];
    for (const trend of trends)
      found.push({
        ...(trend as unknown as Omit<Trend, "where">),
        where: await conditionsOf(this.#database, project, Number(trend.id)),
      });
    return found;
  }

  /** True when every response that belongs into it is in it; null when there is no such trend. */
  async isFilled(project: number, id: number): Promise<boolean | null> {
    const row = await this.#database.first(
      "SELECT state FROM trends WHERE project_id = ? AND id = ? AND state <> 'removed'",
      [project, id],
    );
    return row === null ? null : row.state === "filled";
  }

  /** True when there was one to delete. */
  async delete(project: number, id: number): Promise<boolean> {
    const change = { project, target: String(id) };
    const removed = "UPDATE trends SET state = 'removed' WHERE project_id = ? AND id = ? AND state <> 'removed'";
    if ((await this.#database.run(removed, [project, id])) === 0) return false;
    this.#changes.forget({ ...change, kind: "fill trend" });
    await this.#changes.begin({ ...change, kind: "remove trend" });
    return true;
  }
}

async function insertTrend(
  database: Database,
  { now }: Session,
  project: number,
  { name, where }: Parameters<TrendRows["insert"]>[1],
): Promise<number> {
  const id = await nextId(database, project);
  database.send("INSERT INTO trends (project_id, id, name, created_at, state) VALUES (?, ?, ?, ?, 'filling')", [
    project,
    id,
    name,
    now,
  ]);
  for (const [key, value] of Object.entries(where)) {
    database.send("INSERT INTO trend_conditions (project_id, trend_id, key, value) VALUES (?, ?, ?, ?)", [
      project,
      id,
      key,
      value,
    ]);
  }
  return id;
}

async function conditionsOf(database: Database, project: number, trendId: number): Promise<Record<string, string>> {
  const rows = await database.all(
    "SELECT key, value FROM trend_conditions WHERE project_id = ? AND trend_id = ? ORDER BY key",
    [project, trendId],
  );
  return Object.fromEntries(rows.map(({ key, value }) => [String(key), String(value)]));
}

/** A step of "fill trend": the project's next responses, by id, those that meet its conditions. */
export async function fillTrendStep(database: Database, change: LongChange): Promise<number | null> {
  const { project, doneTo } = change;
  const trendId = Number(change.target);
  const where = await conditionsOf(database, project, trendId);
  const rows = await database.all(
    `SELECT r.id, r.created_at AS "createdAt", r.updated_at AS "updatedAt", r.score, r.survey_type AS "surveyType",
       r.person_properties AS properties, t.response_id AS "isIn"
     FROM responses r LEFT JOIN trend_responses t ON t.project_id = r.project_id AND t.trend_id = ? AND t.response_id = r.id
     WHERE r.project_id = ? AND r.id > ? ORDER BY r.id LIMIT ?`,
    [trendId, project, doneTo, STEP],
  );
  // Responses that came or changed since the trend was added are in it.
  const meeting = rows.filter(
    ({ isIn, properties }) => isIn === null && meetsConditions(JSON.parse(String(properties)) as Properties, where),
  );
  enterTrend(database, project, trendId, meeting as unknown as PlacedResponse[]);
  const last = rows.at(-1);
  if (rows.length === STEP && last !== undefined) return Number(last.id);
  database.send("UPDATE trends SET state = 'filled' WHERE project_id = ? AND id = ?", [project, trendId]);
  return null;
}

/** A step of "remove trend": its responses, with the last of them the trend. */
export async function removeTrendStep(database: Database, { project, target }: LongChange): Promise<number | null> {
  const trendId = Number(target);
  const some = `SELECT response_id FROM trend_responses WHERE project_id = ? AND trend_id = ? ORDER BY response_id LIMIT ?`;
  const where = [`trend_id = ? AND response_id IN (${some})`, trendId, project, trendId, STEP] as const;
  if ((await deleteRows(database, "trend_responses", project, where)).length === STEP) return 0;
  await deleteRows(database, "trends", project, ["id = ?", trendId]);
  for (const time of ["created_at", "updated_at"] as const) forgetCounts(database, responsesBy(project, trendId, time));
  return null;
}
