import type { Properties } from "../../../../contract/resources.ts";
import type { DueSurvey, NewRequest, RequestRows, SurveyLink } from "../../../domain/ports.ts";
import {
  createClaims,
  deleteRequests,
  listErased,
  nextDueAt,
  postpone,
  refreshNextSurvey,
  releaseClaims,
  settleClaim,
} from "./claims.ts";
import type { Database } from "../engine/database.ts";
import type { SqlValue } from "../engine/engine.ts";
import { nextId } from "./project-rows.ts";
import type { Session } from "../engine/stored-time.ts";
import { addCondition, whereSql, type Where } from "../sql/fragments.ts";
import { requestsSent } from "../sql/counted-lists.ts";
import type { ListBlocks } from "../sql/list-blocks.ts";

export function createRequestRows(database: Database, session: Session, blocks: ListBlocks): RequestRows {
  const claims = createClaims(database);
  return {
    insert: async (project, request) => insertRequest(database, project, request),
    setProperties: async (project, id, properties) => {
      database.run("UPDATE survey_requests SET properties = ? WHERE project_id = ? AND id = ?", [
        JSON.stringify(properties),
        project,
        id,
      ]);
    },
    cancel: async (project, personId, which) => cancelRequests(database, project, personId, which),
    claimDue: async (claim) => claims.claimDue(session.now, claim),
    nextDueAt: async () => nextDueAt(database),
    releaseClaims: async (living) => releaseClaims(database, session.now, living),
    markSent: async (due) => {
      if (!settleAndRefresh(database, due, "sent", session.now)) return false;
      const list = requestsSent(due.project.id, due.channel);
      blocks.add(list, { key: [session.now, due.requestId], other: 0, score: null });
      return true;
    },
    markFailed: async (due) => settleAndRefresh(database, due, "failed", null),
    postpone: async (due, dueAt) => postpone(database, due, dueAt),
    lastAutopilotAt: async (project, personId, channel) => {
      const row = database.first(
        `SELECT max(CASE WHEN claimer IS NULL THEN sent_at ELSE ? END) AS at FROM survey_requests
         WHERE project_id = ? AND person_id = ? AND channel = ? AND autopilot = 1`,
        [session.now, project, personId, channel],
      );
      return row === null || row.at === null ? null : Number(row.at);
    },
    listErased: async (limit) => listErased(database, limit),
    forgetErased: async (surveys) => {
      for (const { token } of surveys) database.run("DELETE FROM erased_surveys WHERE token = ?", [token]);
    },
    countSent: async (project, channel, range) => blocks.count(requestsSent(project, channel), range),
    propertiesFor: async (project, personId, channel) => {
      const row = database.first(
        `SELECT properties FROM survey_requests WHERE project_id = ? AND person_id = ? AND channel = ?
         ORDER BY due_at IS NULL, id DESC LIMIT 1`,
        [project, personId, channel],
      );
      return row === null ? null : (JSON.parse(String(row.properties)) as Properties);
    },
    byToken: async (token) => findByToken(database, token),
  };
}

function insertRequest(database: Database, project: number, request: NewRequest): number {
  const id = nextId(database, project);
  const { personId, channel, autopilot, createdAt, scheduledAt, paused, properties, token } = request;
  database.run(
    `INSERT INTO survey_requests (project_id, id, person_id, channel, autopilot, state, created_at, scheduled_at, due_at, properties, token)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      project,
      id,
      personId,
      channel,
      autopilot ? 1 : 0,
      paused ? "paused" : "waiting",
      createdAt,
      scheduledAt,
      paused ? null : scheduledAt,
      JSON.stringify(properties),
      token,
    ],
  );
  if (!paused) {
    database.run(
      "UPDATE people SET next_survey_at = ? WHERE project_id = ? AND id = ? AND (next_survey_at IS NULL OR next_survey_at > ?)",
      [scheduledAt, project, personId, scheduledAt],
    );
  }
  return id;
}

function settleAndRefresh(
  database: Database,
  due: DueSurvey,
  state: "sent" | "failed",
  sentAt: number | null,
): boolean {
  if (!settleClaim(database, due, state, sentAt)) return false;
  refreshNextSurvey(database, due.project.id, due.person.id);
  return true;
}

function cancelRequests(
  database: Database,
  project: number,
  personId: number,
  which: Parameters<RequestRows["cancel"]>[2],
): void {
  const where: Where = {
    clauses: ["project_id = ?", "person_id = ?", "state IN ('waiting', 'paused')"],
    values: [project, personId],
  };
  if (which.channel !== null) addCondition(where, "channel = ?", which.channel);
  if (which.autopilot !== null) addCondition(where, "autopilot = ?", which.autopilot ? 1 : 0);
  const ids = database
    .all(`SELECT id FROM survey_requests WHERE ${whereSql(where)}`, where.values)
    .map((row) => Number(row.id));
  for (const id of ids) cancelRequest(database, project, personId, id);
  if (ids.length > 0) refreshNextSurvey(database, project, personId);
}

/** A claimed one may be on its way: its row stays, so that its link works when it arrives. */
function cancelRequest(database: Database, project: number, personId: number, id: number): void {
  const key: SqlValue[] = [project, id];
  database.run(
    "UPDATE memberships SET next_request_id = NULL WHERE project_id = ? AND person_id = ? AND next_request_id = ?",
    [project, personId, id],
  );
  deleteRequests(database, "project_id = ? AND id = ? AND claimer IS NULL", key);
  database.run("UPDATE survey_requests SET state = 'cancelled', due_at = NULL WHERE project_id = ? AND id = ?", key);
}

function findByToken(database: Database, token: string): SurveyLink | null {
  const row = database.first(
    `SELECT p.id AS "projectId", p.name, q.id, q.person_id AS "personId", q.channel, q.properties, r.id AS "responseId"
     FROM survey_requests q JOIN projects p ON p.id = q.project_id
     LEFT JOIN responses r ON r.project_id = q.project_id AND r.request_id = q.id WHERE q.token = ?`,
    [token],
  );
  if (row === null) return null;
  return {
    project: { id: Number(row.projectId), name: String(row.name) },
    requestId: Number(row.id),
    personId: Number(row.personId),
    channel: row.channel === "sms" ? "sms" : "email",
    properties: JSON.parse(String(row.properties)) as Properties,
    responseId: row.responseId === null ? null : Number(row.responseId),
  };
}
