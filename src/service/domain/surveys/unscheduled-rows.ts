import { Rows } from "../../sql/rows.ts";
import type { SurveyStatusName, SurveyStatus } from "../../../contract/text/survey-status.ts";
import type { TimeRange } from "../inputs.ts";
import { readRow } from "../../sql/columns.ts";
import type { SqlRow } from "../../sql/database.ts";
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
    name: SurveyStatusName,
    { order, after, limit, ...range }: DuePage,
  ): Promise<readonly UnscheduledRow[]> {
    const [than, direction] = order === "asc" ? [">", "ASC"] : ["<", "DESC"];
    const beyond = after === null ? "" : ` AND (u.at, u.id) ${than} (?, ?)`;
    const sql = `${UNSCHEDULED} WHERE ${WITHIN}${beyond} ORDER BY u.at ${direction}, u.id ${direction} LIMIT ?`;
    const place = after === null ? [] : [after.at, after.id];
    return (await this.database.all(sql, [project, name, ...ends(range), ...place, limit])).map(toUnscheduled);
  }

  async count(project: number, name: SurveyStatusName, { since, until }: TimeRange): Promise<number> {
    const sql = `SELECT count(*) AS n FROM unscheduled_surveys u WHERE ${WITHIN}`;
    return Number((await this.database.first(sql, [project, name, ...ends({ since, until })]))?.n);
  }

  async ofPerson(project: number, personId: number, limit: number): Promise<readonly UnscheduledRow[]> {
    const sql = `${UNSCHEDULED} WHERE u.project_id = ? AND u.person_id = ? ORDER BY u.at DESC, u.id DESC LIMIT ?`;
    return (await this.database.all(sql, [project, personId, limit])).map(toUnscheduled);
  }

  /** Returns the number of rows; less than `limit` means that none are left. */
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
const WITHIN = "u.project_id = ? AND u.reason = ? AND u.at >= ? AND u.at <= ?";

function ends({ since, until }: TimeRange): number[] {
  return [since ?? 0, until ?? Number.MAX_SAFE_INTEGER];
}

function toUnscheduled(row: SqlRow): UnscheduledRow {
  return readRow<UnscheduledRow>(row);
}
