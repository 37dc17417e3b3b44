import type { Properties } from "../../../../../contract/resources.ts";
import type {
  ClaimKey,
  FrozenMessage,
  NewRequest,
  RequestRows,
  DeliveryChange,
  SurveyLink,
} from "../../../../domain/ports.ts";
import {
  claimKey,
  claimSome,
  IS_WAITING,
  listClaimedProjects,
  listErased,
  listTransmitting,
  dueProjects,
  earliestDueAt,
  noteErased,
  refreshNextSurvey,
  releaseClaims,
  renewClaims,
  THIS_CLAIM,
} from "./claims.ts";
import type { Database } from "../../database.ts";
import type { SqlValue } from "../../database.ts";
import { readPageFacts } from "./page-facts.ts";
import { nextId } from "../project-rows.ts";
import type { Session } from "../../database.ts";
import { addCondition, whereSql, type Where } from "../../lists/fragments.ts";
import { requestsSent } from "../../lists/counted-lists.ts";
import type { ListTallies } from "../../lists/list-tallies.ts";

async function listLiving(database: Database, since: number): Promise<string[]> {
  const rows = await database.all("SELECT name FROM processes WHERE seen_at > ? ORDER BY name", [since]);
  return rows.map(({ name }) => String(name));
}

/** A process that ended without leaving is forgotten after this long. */
const FORGOTTEN_SECONDS = 3600;

export function createRequestRows(database: Database, session: Session, tallies: ListTallies): RequestRows {
  return {
    insert: async (project, request) => {
      const id = await insertRequest(database, project, request);
      if (!request.paused && request.isFirst !== true)
        bringForward(database, project, request.personId, request.scheduledAt);
      return id;
    },
    setProperties: async (project, id, properties) => {
      database.send("UPDATE survey_requests SET properties = ? WHERE project_id = ? AND id = ?", [
        JSON.stringify(properties),
        project,
        id,
      ]);
    },
    cancel: async (project, personId, which) => cancelRequests(database, project, personId, which),
    dueProjects: async (channel) => dueProjects(database, session.now, channel),
    claimDue: async (claim) => claimSome(database, session.now, claim),
    nextDueAt: async (channels, which) => earliestDueAt(database, channels, which),
    beat: async (claimer, seconds) => {
      database.send(
        "INSERT INTO processes (name, seen_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at",
        [claimer, session.now],
      );
      database.send("DELETE FROM processes WHERE seen_at < ?", [session.now - FORGOTTEN_SECONDS]);
      return listLiving(database, session.now - seconds);
    },
    living: async (seconds) => listLiving(database, session.now - seconds),
    leave: async (claimer) => database.send("DELETE FROM processes WHERE name = ?", [claimer]),
    renewClaims: async (held, dueAt) => renewClaims(database, held, dueAt),
    claimedProjects: async (living) => listClaimedProjects(database, living),
    releaseClaims: async (project, living) => releaseClaims(database, session.now, project, living),
    listTransmitting: async (project, living) => listTransmitting(database, project, living),
    isWanted: async (claim) => {
      const row = await database.first(`SELECT state FROM survey_requests WHERE ${THIS_CLAIM}`, claimKey(claim));
      return row === null ? null : row.state !== "cancelled";
    },
    markTransmitting: async (claim, frozen) => markTransmitting(database, session.now, claim, frozen),
    settle: async (claim, change) => settle(database, session.now, tallies, claim, change),
    lastAutopilotAt: async (project, personId, channel) => {
      const row = await database.first(
        `SELECT max(CASE WHEN claimer IS NOT NULL THEN ? WHEN state = 'unknown' THEN transmitting_at ELSE sent_at END) AS at
         FROM survey_requests
         WHERE project_id = ? AND person_id = ? AND channel = ? AND autopilot = 1`,
        [session.now, project, personId, channel],
      );
      return row === null || row.at === null ? null : Number(row.at);
    },
    listErased: async (limit) => listErased(database, limit),
    forgetErased: async (surveys) => {
      for (const { project, token } of surveys)
        database.send("DELETE FROM erased_surveys WHERE project_id = ? AND token = ?", [project.id, token]);
    },
    countSent: async (project, channel, range) => tallies.count(requestsSent(project, channel), range),
    propertiesFor: async (project, personId, channel) => {
      const row = await database.first(
        `SELECT properties FROM survey_requests WHERE project_id = ? AND person_id = ? AND channel = ?
         ORDER BY due_at IS NULL, id DESC LIMIT 1`,
        [project, personId, channel],
      );
      return row === null ? null : (JSON.parse(String(row.properties)) as Properties);
    },
    byToken: async (token) => findLink(database, "token", token),
    byUnsubscribeToken: async (token) => findLink(database, "unsubscribe_token", token),
    setPageFacts: async (project, id, facts) => {
      database.send("UPDATE survey_requests SET page_facts = ? WHERE project_id = ? AND id = ?", [
        JSON.stringify(facts),
        project,
        id,
      ]);
    },
  };
}

async function insertRequest(database: Database, project: number, request: NewRequest): Promise<number> {
  const id = await nextId(database, project);
  const { personId, channel, autopilot, createdAt, scheduledAt, paused, properties, token, unsubscribeToken } = request;
  database.send(
    `INSERT INTO survey_requests (project_id, id, person_id, channel, autopilot, state, created_at, scheduled_at, due_at, properties, token, unsubscribe_token)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      project,
      id,
      personId,
      channel,
      autopilot ? 1 : 0,
      paused ? "paused" : "scheduled",
      createdAt,
      scheduledAt,
      paused ? null : scheduledAt,
      JSON.stringify(properties),
      token,
      unsubscribeToken,
    ],
  );
  return id;
}

/** The person's next survey is then or sooner. */
function bringForward(database: Database, project: number, personId: number, at: number): void {
  database.send(
    "UPDATE people SET next_survey_at = ? WHERE project_id = ? AND id = ? AND (next_survey_at IS NULL OR next_survey_at > ?)",
    [at, project, personId, at],
  );
}

/** The first mark and what it froze are kept. */
async function markTransmitting(
  database: Database,
  now: number,
  claim: ClaimKey,
  frozen: FrozenMessage | null,
): Promise<boolean> {
  const { messageId = null, bounceToken = null } = frozen ?? {};
  const marked = await database.run(
    `UPDATE survey_requests SET state = 'transmitting', due_at = NULL, transmitting_at = ?,
       message_id = coalesce(message_id, ?), bounce_token = coalesce(bounce_token, ?), frozen = coalesce(frozen, ?)
     WHERE ${THIS_CLAIM} AND state = 'claimed'`,
    [now, messageId, bounceToken, frozen === null ? null : JSON.stringify(frozen.values), ...claimKey(claim)],
  );
  return marked > 0;
}

async function settle(
  database: Database,
  now: number,
  tallies: ListTallies,
  claim: ClaimKey,
  { state, dueAt, sentAt, reason, isAttempt }: DeliveryChange,
): Promise<boolean> {
  const key = claimKey(claim);
  const row = await database.first(
    `SELECT state, channel, person_id AS "personId" FROM survey_requests WHERE ${THIS_CLAIM}`,
    key,
  );
  if (row === null) return false;
  // What was cancelled meanwhile stays so, unless the message had gone already.
  const isCancelled = row.state === "cancelled" && state !== "sent" && state !== "bounced";
  if (isCancelled) noteErased(database, THIS_CLAIM, key);
  database.send(
    `UPDATE survey_requests SET state = ?, due_at = ?, sent_at = coalesce(?, sent_at), reason = ?, claimer = NULL,
       attempts = attempts + ?, first_attempt_at = coalesce(first_attempt_at, ?)
     WHERE ${THIS_CLAIM}`,
    [
      isCancelled ? "cancelled" : state,
      isCancelled ? null : dueAt,
      sentAt,
      reason,
      isAttempt ? 1 : 0,
      isAttempt ? now : null,
      ...key,
    ],
  );
  const { project } = claim;
  refreshNextSurvey(database, project.id, Number(row.personId));
  if (sentAt !== null) {
    const list = requestsSent(project.id, row.channel === "sms" ? "sms" : "email");
    tallies.add(list, { at: sentAt, score: null });
  }
  return true;
}

async function cancelRequests(
  database: Database,
  project: number,
  personId: number,
  which: Parameters<RequestRows["cancel"]>[2],
): Promise<void> {
  const where: Where = {
    clauses: ["project_id = ?", "person_id = ?", `(${IS_WAITING} OR state = 'paused')`, "state <> 'transmitting'"],
    values: [project, personId],
  };
  if (which.channel !== null) addCondition(where, "channel = ?", which.channel);
  if (which.autopilot !== null) addCondition(where, "autopilot = ?", which.autopilot ? 1 : 0);
  const ids = (await database.all(`SELECT id FROM survey_requests WHERE ${whereSql(where)}`, where.values)).map((row) =>
    Number(row.id),
  );
  for (const id of ids) cancelRequest(database, project, personId, id);
  if (ids.length > 0) refreshNextSurvey(database, project, personId);
}

/** A claimed one may be on its way: its claim stays, and its link works when it arrives. */
function cancelRequest(database: Database, project: number, personId: number, id: number): void {
  const key: SqlValue[] = [project, id];
  database.send(
    "UPDATE memberships SET next_request_id = NULL WHERE project_id = ? AND person_id = ? AND next_request_id = ?",
    [project, personId, id],
  );
  noteErased(database, "project_id = ? AND id = ? AND claimer IS NULL", key);
  database.send("UPDATE survey_requests SET state = 'cancelled', due_at = NULL WHERE project_id = ? AND id = ?", key);
}

async function findLink(
  database: Database,
  column: "token" | "unsubscribe_token",
  token: string,
): Promise<SurveyLink | null> {
  const row = await database.first(
    `SELECT p.id AS "projectId", p.name, q.id, q.person_id AS "personId", q.channel, q.properties,
       q.sent_at AS "sentAt", q.page_facts AS "pageFacts", r.id AS "responseId"
     FROM survey_requests q JOIN projects p ON p.id = q.project_id
     LEFT JOIN responses r ON r.project_id = q.project_id AND r.request_id = q.id WHERE q.${column} = ?`,
    [token],
  );
  if (row === null) return null;
  return {
    project: { id: Number(row.projectId), name: String(row.name) },
    requestId: Number(row.id),
    personId: Number(row.personId),
    channel: row.channel === "sms" ? "sms" : "email",
    properties: JSON.parse(String(row.properties)) as Properties,
    sentAt: row.sentAt === null ? null : Number(row.sentAt),
    pageFacts: readPageFacts(row.pageFacts),
    responseId: row.responseId === null ? null : Number(row.responseId),
  };
}
