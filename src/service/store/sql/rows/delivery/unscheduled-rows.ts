/** Surveys that were asked for and not scheduled. */
import type { SurveyStatusName } from "../../../../../contract/text/survey-status.ts";
import type { TimeRange } from "../../../../domain/inputs.ts";
import type { DuePage, UnscheduledRow, UnscheduledRows } from "../../../../domain/ports.ts";
import { type Database, numberOrNull, type Session, type SqlRow, textOrNull } from "../../../../sql/database.ts";
import { nextId } from "../project-rows.ts";

export function createUnscheduledRows(database: Database, session: Session): UnscheduledRows {
  return {
    add: async (project, { personId, channel, status: { status, since, until } }) => {
      database.send(
        `INSERT INTO unscheduled_surveys (project_id, reason, at, id, person_id, channel, since_at, until_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        [project, status, session.now, await nextId(database, project), personId, channel, since, until],
      );
    },
    list: async (project, name, page) => listByTime(database, project, name, page),
    count: async (project, name, { since, until }) => {
      const sql = `SELECT count(*) AS n FROM unscheduled_surveys u WHERE ${WITHIN}`;
      return Number((await database.first(sql, [project, name, ...ends({ since, until })]))?.n);
    },
    ofPerson: async (project, personId, limit) => {
      const sql = `${UNSCHEDULED} WHERE u.project_id = ? AND u.person_id = ? ORDER BY u.at DESC, u.id DESC LIMIT ?`;
      return (await database.all(sql, [project, personId, limit])).map(toUnscheduled);
    },
    prune: async (before, limit) =>
      database.run(
        `DELETE FROM unscheduled_surveys WHERE (project_id, reason, at, id) IN
           (SELECT project_id, reason, at, id FROM unscheduled_surveys WHERE at < ? ORDER BY at LIMIT ?)`,
        [before, limit],
      ),
  };
}

const UNSCHEDULED = `SELECT u.id, u.person_id AS "personId", u.channel, u.reason, u.at, u.since_at AS "since",
  u.until_at AS "until", w.email, w.phone_number AS "phoneNumber"
  FROM unscheduled_surveys u JOIN people w ON w.project_id = u.project_id AND w.id = u.person_id`;
const WITHIN = "u.project_id = ? AND u.reason = ? AND u.at >= ? AND u.at <= ?";

function ends({ since, until }: TimeRange): number[] {
  return [since ?? 0, until ?? Number.MAX_SAFE_INTEGER];
}

async function listByTime(
  database: Database,
  project: number,
  name: SurveyStatusName,
  { order, after, limit, ...range }: DuePage,
): Promise<UnscheduledRow[]> {
  const [than, direction] = order === "asc" ? [">", "ASC"] : ["<", "DESC"];
  const beyond = after === null ? "" : ` AND (u.at, u.id) ${than} (?, ?)`;
  const sql = `${UNSCHEDULED} WHERE ${WITHIN}${beyond} ORDER BY u.at ${direction}, u.id ${direction} LIMIT ?`;
  const place = after === null ? [] : [after.at, after.id];
  return (await database.all(sql, [project, name, ...ends(range), ...place, limit])).map(toUnscheduled);
}

function toUnscheduled(row: SqlRow): UnscheduledRow {
  return {
    id: Number(row.id),
    personId: Number(row.personId),
    channel: row.channel === "sms" ? "sms" : "email",
    email: textOrNull(row.email),
    phoneNumber: textOrNull(row.phoneNumber),
    at: Number(row.at),
    status: {
      status: row.reason as SurveyStatusName,
      since: numberOrNull(row.since),
      until: numberOrNull(row.until),
    },
  };
}
