import { Rows } from "../../sql/rows.ts";
import { responsesBy } from "../../sql/lists/counted-lists.ts";
import { deleteRows, sendRow } from "../../sql/lists/counted-rows.ts";
import { forgetCounts } from "../../sql/lists/list-counts.ts";

export interface Trend {
  readonly id: number;
  readonly name: string;
  readonly where: Readonly<Record<string, string>>;
  readonly createdAt: number;
}

export interface PlacedResponse {
  readonly id: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly score: number;
  readonly surveyType: string;
}

export interface TrendCandidate extends PlacedResponse {
  readonly properties: string;
  readonly isIn: boolean;
}

export class TrendRows extends Rows {
  async insert(project: number, { name, where }: Pick<Trend, "name" | "where">): Promise<number> {
    const id = await this.nextId(project);
    this.database.send("INSERT INTO trends (project_id, id, name, created_at, state) VALUES (?, ?, ?, ?, 'filling')", [
      project,
      id,
      name,
      this.session.now,
    ]);
    for (const [key, value] of Object.entries(where))
      this.database.send("INSERT INTO trend_conditions (project_id, trend_id, key, value) VALUES (?, ?, ?, ?)", [
        project,
        id,
        key,
        value,
      ]);
    return id;
  }

  async list(project: number): Promise<readonly Trend[]> {
    const rows = await this.database.all(
      `SELECT t.id, t.name, t.created_at AS "createdAt", c.key, c.value FROM trends t
       JOIN trend_conditions c ON c.project_id = t.project_id AND c.trend_id = t.id
       WHERE t.project_id = ? AND t.state <> 'removed' ORDER BY t.id, c.key`,
      [project],
    );
    const trends = new Map<number, Trend>();
    for (const { id, name, createdAt, key, value } of rows) {
      const trend = trends.get(Number(id));
      const where = { ...trend?.where, [String(key)]: String(value) };
      trends.set(Number(id), { id: Number(id), name: String(name), where, createdAt: Number(createdAt) });
    }
    return [...trends.values()];
  }

  /** True once the trend contains all matching responses; null if the trend doesn't exist. */
  async isFilled(project: number, id: number): Promise<boolean | null> {
    const row = await this.database.first(
      "SELECT state FROM trends WHERE project_id = ? AND id = ? AND state <> 'removed'",
      [project, id],
    );
    return row === null ? null : row.state === "filled";
  }

  async setFilled(project: number, id: number): Promise<void> {
    this.database.send("UPDATE trends SET state = 'filled' WHERE project_id = ? AND id = ?", [project, id]);
  }

  async candidates(project: number, id: number, after: number, limit: number): Promise<readonly TrendCandidate[]> {
    const rows = await this.database.all(
      `SELECT r.id, r.created_at AS "createdAt", r.updated_at AS "updatedAt", r.score, r.survey_type AS "surveyType",
         r.person_properties AS properties, t.response_id AS "isIn"
       FROM responses r LEFT JOIN trend_responses t ON t.project_id = r.project_id AND t.trend_id = ? AND t.response_id = r.id
       WHERE r.project_id = ? AND r.id > ? ORDER BY r.id LIMIT ?`,
      [id, project, after, limit],
    );
    return rows.map(({ isIn, ...row }) => ({
      ...(row as unknown as Omit<TrendCandidate, "isIn">),
      isIn: isIn !== null,
    }));
  }

  /** The given responses must not be in the trend yet. */
  async enter(project: number, id: number, rows: readonly PlacedResponse[]): Promise<void> {
    for (const { id: responseId, createdAt, updatedAt, score, surveyType } of rows)
      sendRow(this.database, "trend_responses", {
        project_id: project,
        trend_id: id,
        response_id: responseId,
        created_at: createdAt,
        updated_at: updatedAt,
        score,
        survey_type: surveyType,
      });
  }

  async leave(project: number, responseId: number): Promise<void> {
    await deleteRows(this.database, "trend_responses", project, ["response_id = ?", responseId]);
  }

  async hide(project: number, id: number): Promise<void> {
    this.database.send("UPDATE trends SET state = 'removed' WHERE project_id = ? AND id = ?", [project, id]);
  }

  /** Removes responses from a hidden trend, and finally the trend. True once the trend is gone. */
  async deleteSome(project: number, id: number, limit: number): Promise<boolean> {
    const some = `SELECT response_id FROM trend_responses WHERE project_id = ? AND trend_id = ? ORDER BY response_id LIMIT ?`;
    const where = [`trend_id = ? AND response_id IN (${some})`, id, project, id, limit] as const;
    if ((await deleteRows(this.database, "trend_responses", project, where)).length === limit) return false;
    await deleteRows(this.database, "trends", project, ["id = ?", id]);
    for (const time of ["created_at", "updated_at"] as const)
      forgetCounts(this.database, responsesBy(project, id, time));
    return true;
  }
}
