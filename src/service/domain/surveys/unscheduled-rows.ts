import { Rows } from "../../sql/rows.ts";
import type { SurveyStatusName, SurveyStatus } from "../../../contract/text/survey-status.ts";
import type { TimeRange } from "../inputs.ts";
import { readRow } from "../../sql/columns.ts";
import type { SqlRow } from "../../sql/database.ts";
import { addCondition, addRange, type Where, whereSql } from "../../sql/lists/fragments.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { DuePage } from "../delivery/rows.ts";

interface NewUnscheduled {
  readonly personId: number;
  readonly channel: Channel;
  readonly status: SurveyStatus;
}

export interface UnscheduledRow extends NewUnscheduled {
  readonly id: number;
  readonly at: number;
  readonly email: string | null;
  readonly phoneNumber: string | null;
}

interface UnscheduledAt {
  readonly reason: SurveyStatusName;
  readonly personId?: number | null;
}

export class UnscheduledRows extends Rows {
  async add(project: number, { personId, channel, status: { status, since, until } }: NewUnscheduled): Promise<void> {
    this.database.send(
      `INSERT INTO unscheduled_surveys (project_id, reason, at, id, person_id, channel, since_at, until_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [project, status, this.session.now, await this.nextId(project), personId, channel, since, until],
    );
  }

  async list(
    project: number,
    which: UnscheduledAt,
    { order, after, limit, ...range }: DuePage,
  ): Promise<readonly UnscheduledRow[]> {
    const [than, direction] = order === "asc" ? [">", "ASC"] : ["<", "DESC"];
    const where = within(project, which, range);
    if (after !== null) addCondition(where, `(u.at, u.id) ${than} (?, ?)`, after.at, after.id);
    const sql = `${UNSCHEDULED} WHERE ${whereSql(where)} ORDER BY u.at ${direction}, u.id ${direction} LIMIT ?`;
    return (await this.database.all(sql, [...where.values, limit])).map(toUnscheduled);
  }

  async count(project: number, which: UnscheduledAt, range: TimeRange): Promise<number> {
    const where = within(project, which, range);
    const sql = `SELECT count(*) AS n FROM unscheduled_surveys u WHERE ${whereSql(where)}`;
    return Number((await this.database.first(sql, where.values))?.n);
  }

  async ofPerson(project: number, personId: number, limit: number): Promise<readonly UnscheduledRow[]> {
    const sql = `${UNSCHEDULED} WHERE u.project_id = ? AND u.person_id = ? ORDER BY u.at DESC, u.id DESC LIMIT ?`;
    return (await this.database.all(sql, [project, personId, limit])).map(toUnscheduled);
  }

  /** Returns the number of rows. Fewer than `limit` means that none are left. */
  async prune(before: number, limit: number): Promise<number> {
    const old = await this.database.all(
      "SELECT project_id, reason, at, id FROM unscheduled_surveys WHERE at < ? ORDER BY at LIMIT ?",
      [before, limit],
    );
    const sql = "DELETE FROM unscheduled_surveys WHERE project_id = ? AND reason = ? AND at = ? AND id = ?";
    for (const row of old) this.database.send(sql, Object.values(row));
    return old.length;
  }
}

const UNSCHEDULED = `SELECT u.id, u.person_id AS "personId", u.channel, u.reason AS "status.status", u.at, u.since_at AS "status.since",
  u.until_at AS "status.until", w.email, w.phone_number AS "phoneNumber"
  FROM unscheduled_surveys u JOIN people w ON w.project_id = u.project_id AND w.id = u.person_id`;

function within(project: number, { reason, personId = null }: UnscheduledAt, range: TimeRange): Where {
  const where: Where = { clauses: ["u.project_id = ?"], values: [project] };
  if (personId !== null) addCondition(where, "u.person_id = ?", personId);
  // The cast makes the engine go through the person's few rows instead of all with this reason.
  addCondition(where, personId === null ? "u.reason = ?" : "CAST(u.reason AS TEXT) = ?", reason);
  addRange(where, "u.at", range);
  return where;
}

function toUnscheduled(row: SqlRow): UnscheduledRow {
  return readRow<UnscheduledRow>(row);
}
