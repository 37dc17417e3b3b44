import type { Platform } from "../../../../contract/resources.ts";
import type { JsonRows, MembersFilter } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";
import { jsonNumber, jsonObject, jsonText } from "../sql/json-sql.ts";
import { addCondition, whereSql, type Where } from "../sql/where.ts";

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

export function listMembers(database: Database, project: number, platform: Platform, filter: MembersFilter): JsonRows {
  const where: Where = { clauses: ["m.project_id = ?", "m.platform = ?"], values: [project, platform] };
  if (filter.personId !== null) addCondition(where, "m.person_id = ?", filter.personId);
  if (filter.after !== null)
    addCondition(where, "(m.created_at, m.person_id) > (?, ?)", filter.after.createdAt, filter.after.id);
  const sql = `SELECT ${MEMBERSHIP_JSON} AS json FROM memberships m
    LEFT JOIN people p ON p.project_id = m.project_id AND p.id = m.person_id
    LEFT JOIN survey_requests q ON q.project_id = m.project_id AND q.id = m.next_request_id
    WHERE ${whereSql(where)} ORDER BY m.created_at, m.person_id LIMIT ?`;
  return database.all(sql, [...where.values, filter.limit]).map(({ json }) => String(json));
}
