/** Members of Autopilot, each with the request that is their next. */
import type { Platform, Properties } from "../../../../../contract/resources.ts";
import type { AutopilotRows, JsonRows, MembersFilter, MembershipRow } from "../../../../domain/ports.ts";
import type { Start } from "../../../../domain/surveys/due-moment.ts";
import type { Database, Session, SqlRow } from "../../../../sql/database.ts";
import {
  addCondition,
  jsonNumber,
  jsonObject,
  jsonText,
  type Where,
  whereSql,
} from "../../../../sql/lists/fragments.ts";
import { refreshNextSurvey } from "../delivery/claims.ts";
import type { LongChanges } from "../long-changes.ts";
import { changeAutopilotSettings, readAutopilotSettings, readAutopilotConfiguration } from "./autopilot-settings.ts";

const MEMBER = "project_id = ? AND platform = ? AND person_id = ?";

export function createAutopilotRows(database: Database, session: Session, changes: LongChanges): AutopilotRows {
  const reschedule = async (project: number, target: Platform): Promise<void> =>
    void (await changes.begin({ project, kind: "reschedule", target }));
  return {
    configuration: async (project, platform) => readAutopilotConfiguration(database, project, platform),
    settings: async (project, platform) => readAutopilotSettings(database, project, platform),
    configure: async (project, platform, settings) => {
      if (await changeAutopilotSettings(database, session.now, project, platform, settings))
        await reschedule(project, platform);
    },
    reschedule,
    joined: async (project, platform) => {
      const sql = "SELECT joined FROM autopilot_configurations WHERE project_id = ? AND platform = ?";
      return Number((await database.first(sql, [project, platform]))?.joined ?? 0);
    },
    member: async (project, platform, personId) => findMember(database, project, platform, personId),
    insertMember: async (project, platform, member) => insertMember(database, session.now, project, platform, member),
    setMemberProperties: async (project, platform, personId, properties) => {
      const sql = `UPDATE memberships SET properties = ?, updated_at = ? WHERE ${MEMBER}`;
      database.send(sql, [JSON.stringify(properties), session.now, project, platform, personId]);
    },
    setNext: async (project, platform, personId, { requestId, start }) => {
      database.send(`UPDATE memberships SET next_request_id = ?, start = ?, updated_at = ? WHERE ${MEMBER}`, [
        requestId,
        JSON.stringify(start),
        session.now,
        project,
        platform,
        personId,
      ]);
    },
    postpone: async (project, platform, member, to) =>
      postpone(database, session.now, { project, platform, member, ...to }),
    deleteMember: async (project, platform, personId) => {
      database.send(`DELETE FROM memberships WHERE ${MEMBER}`, [project, platform, personId]);
    },
    list: async (project, platform, filter) => listMembers(database, project, platform, filter),
  };
}

const MEMBERSHIP = `SELECT person_id AS "personId", created_at AS "createdAt", updated_at AS "updatedAt", properties,
  next_request_id AS "nextRequestId", number, start, not_before AS "notBefore",
  (SELECT q.scheduled_at FROM messages q WHERE q.project_id = m.project_id AND q.id = m.next_request_id) AS "nextSurveyAt"
  FROM memberships m WHERE ${MEMBER}`;

async function findMember(
  database: Database,
  project: number,
  platform: Platform,
  personId: number,
): Promise<MembershipRow | null> {
  const row = await database.first(MEMBERSHIP, [project, platform, personId]);
  return row === null ? null : toMember(row);
}

function toMember(row: SqlRow): MembershipRow {
  return {
    ...(row as unknown as Omit<MembershipRow, "properties" | "start">),
    properties: JSON.parse(String(row.properties)) as Properties,
    start: JSON.parse(String(row.start)) as Start,
  };
}

async function insertMember(
  database: Database,
  now: number,
  project: number,
  platform: Platform,
  { personId, properties, start }: Parameters<AutopilotRows["insertMember"]>[2],
): Promise<MembershipRow> {
  const [joined] = await database.returning(
    "UPDATE autopilot_configurations SET joined = joined + 1 WHERE project_id = ? AND platform = ? RETURNING joined",
    [project, platform],
  );
  const number = Number(joined?.joined);
  database.send(
    `INSERT INTO memberships (project_id, platform, person_id, created_at, updated_at, properties, number, start)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [project, platform, personId, now, now, JSON.stringify(properties), number, JSON.stringify(start)],
  );
  const waiting = { nextRequestId: null, nextSurveyAt: null, notBefore: null };
  return { personId, createdAt: now, updatedAt: now, properties, number, start, ...waiting };
}

interface Postponement {
  readonly project: number;
  readonly platform: Platform;
  readonly member: MembershipRow;
  readonly notBefore: number;
  readonly dueAt: number;
}

/** `updated_at` tells of surveys that were rescheduled (section 2), and not of a limit that moves none. */
async function postpone(
  database: Database,
  now: number,
  { project, platform, member: { personId, nextRequestId }, notBefore, dueAt }: Postponement,
): Promise<void> {
  const moved = await database.returning(
    `UPDATE messages SET scheduled_at = ?, due_at = CASE WHEN state = 'scheduled' THEN CAST(? AS BIGINT) END
     WHERE project_id = ? AND id = ? AND claims = 0 AND state IN ('scheduled', 'paused') AND scheduled_at <> ?
     RETURNING id`,
    [dueAt, dueAt, project, nextRequestId, dueAt],
  );
  const member = [project, platform, personId];
  database.send(`UPDATE memberships SET not_before = ? WHERE ${MEMBER}`, [notBefore, ...member]);
  if (moved.length === 0) return;
  database.send(`UPDATE memberships SET updated_at = ? WHERE ${MEMBER}`, [now, ...member]);
  refreshNextSurvey(database, project, personId);
}

const MEMBER_PERSON = jsonObject([
  ["id", `'"', p.id, '"'`],
  ["name", jsonText("p.name")],
  ["email", jsonText("p.email")],
  ["phone_number", jsonText("p.phone_number")],
  ["created_at", "p.created_at"],
  ["last_sent_at", jsonNumber("p.last_sent_at")],
]);

const NEXT_REQUEST = jsonObject([
  ["id", `'"', q.id, '"'`],
  ["created_at", "q.created_at"],
  ["survey_scheduled_at", "q.scheduled_at"],
  ["properties", "q.properties"],
]);

const MEMBERSHIP_JSON = jsonObject([
  ["created_at", "m.created_at"],
  ["updated_at", "m.updated_at"],
  ["person", MEMBER_PERSON],
  ["next_survey_request", `CASE WHEN q.id IS NULL THEN 'null' ELSE ${NEXT_REQUEST} END`],
]);

async function listMembers(
  database: Database,
  project: number,
  platform: Platform,
  filter: MembersFilter,
): Promise<JsonRows> {
  const where: Where = { clauses: ["m.project_id = ?", "m.platform = ?"], values: [project, platform] };
  if (filter.personId !== null) addCondition(where, "m.person_id = ?", filter.personId);
  if (filter.after !== null)
    addCondition(where, "(m.created_at, m.person_id) > (?, ?)", filter.after.createdAt, filter.after.id);
  const sql = `SELECT ${MEMBERSHIP_JSON} AS json FROM memberships m
    LEFT JOIN people p ON p.project_id = m.project_id AND p.id = m.person_id
    LEFT JOIN messages q ON q.project_id = m.project_id AND q.id = m.next_request_id
    WHERE ${whereSql(where)} ORDER BY m.created_at, m.person_id LIMIT ?`;
  return (await database.all(sql, [...where.values, filter.limit])).map(({ json }) => String(json));
}
