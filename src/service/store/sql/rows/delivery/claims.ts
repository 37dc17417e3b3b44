/** Claims of due survey requests: a claim is a lease, and a lease that runs out makes the request due again. */
import type { JsonObject } from "../../../../../contract/json.ts";
import type { Properties } from "../../../../../contract/resources.ts";
import type { Channel } from "../../../../../contract/routes.ts";
import type { Claim, ClaimKey, DueSurvey, ErasedSurvey, FrozenMessage } from "../../../../domain/ports.ts";
import type { Database } from "../../database.ts";
import type { SqlRow, SqlValue } from "../../database.ts";

const SURVEY = `SELECT q.project_id AS "projectId", p.name AS "projectName", q.id, q.channel, q.autopilot, q.token,
  q.unsubscribe_token AS "unsubscribeToken", q.bounce_token AS "bounceToken", q.message_id AS "messageId", q.frozen,
  q.properties, q.scheduled_at AS "scheduledAt", q.attempts, q.first_attempt_at AS "firstAttemptAt", q.claimer, q.claims,
  q.person_id AS "personId", w.email, w.name, w.phone_number AS "phoneNumber", c.active
  FROM survey_requests q
  JOIN projects p ON p.id = q.project_id
  JOIN people w ON w.project_id = q.project_id AND w.id = q.person_id
  JOIN autopilot_configurations c ON c.project_id = q.project_id AND c.platform = q.channel`;

const DUE = `${SURVEY}
  WHERE q.project_id = ? AND q.channel = ? AND q.due_at <= ? ORDER BY q.due_at, q.id LIMIT ?`;

const PROJECTS_WITH_DUE = `SELECT p.id FROM projects p WHERE p.paused_at IS NULL AND EXISTS
  (SELECT 1 FROM survey_requests q WHERE q.project_id = p.id AND q.channel = ? AND q.due_at <= ?) ORDER BY p.id`;

/** States in which a survey is still to be sent. */
export const IS_WAITING = "state IN ('scheduled', 'claimed', 'transmitting', 'retrying', 'held')";

export async function dueProjects(database: Database, now: number, channel: Channel): Promise<number[]> {
  return (await database.all(PROJECTS_WITH_DUE, [channel, now])).map(({ id }) => Number(id));
}

export async function claimSome(database: Database, now: number, claim: Claim): Promise<DueSurvey[]> {
  const { project, claimer, channel, leaseSeconds, limit } = claim;
  const claimed: DueSurvey[] = [];
  for (const row of await database.all(DUE, [project, channel, now, limit])) {
    const key = [project, Number(row.id)];
    if (row.autopilot === 1 && row.active === 0) {
      pause(database, key, Number(row.personId));
      continue;
    }
    database.send(
      "UPDATE survey_requests SET state = 'claimed', claimer = ?, due_at = ?, claims = claims + 1 WHERE project_id = ? AND id = ?",
      [claimer, now + leaseSeconds, ...key],
    );
    claimed.push(toDueSurvey({ ...row, claimer, claims: Number(row.claims) + 1 }));
  }
  return claimed;
}

/** Pauses a survey that was on its way when its Autopilot was switched off, and came back. */
function pause(database: Database, key: readonly number[], personId: number): void {
  database.send(
    "UPDATE survey_requests SET state = 'paused', due_at = NULL, claimer = NULL WHERE project_id = ? AND id = ?",
    key,
  );
  refreshNextSurvey(database, key[0] ?? 0, personId);
}

/**
 * `people.next_survey_at`: the person's earliest request that waits. The state is no condition, because an engine without
 * statistics would read all that wait in the project by the index of states, once for every survey that is sent.
 */
const NEXT_SURVEY_AT = `(SELECT min(CASE WHEN r.${IS_WAITING} THEN r.scheduled_at END) FROM survey_requests r
  WHERE r.project_id = people.project_id AND r.person_id = people.id)`;

/** Looks the earliest waiting request of one person up again. */
export function refreshNextSurvey(database: Database, project: number, personId: number): void {
  database.send(`UPDATE people SET next_survey_at = ${NEXT_SURVEY_AT} WHERE project_id = ? AND id = ?`, [
    project,
    personId,
  ]);
}

/** When the next request, or the end of a lease, is due; each project's is the first entry of its index. */
export async function earliestDueAt(
  database: Database,
  channels: readonly Channel[],
  { withPaused }: { readonly withPaused: boolean },
): Promise<number | null> {
  const times: number[] = [];
  for (const channel of channels) {
    const row = await database.first(
      `SELECT min(first_at) AS at FROM (SELECT (SELECT q.due_at FROM survey_requests q
         WHERE q.project_id = p.id AND q.channel = ? AND q.due_at IS NOT NULL ORDER BY q.due_at LIMIT 1) AS first_at
       FROM projects p${withPaused ? "" : " WHERE p.paused_at IS NULL"}) AS firsts`,
      [channel],
    );
    if (row !== null && row.at !== null) times.push(Number(row.at));
  }
  return times.length === 0 ? null : Math.min(...times);
}

function toDueSurvey(row: SqlRow): DueSurvey {
  return {
    project: { id: Number(row.projectId), name: String(row.projectName) },
    requestId: Number(row.id),
    channel: row.channel === "sms" ? "sms" : "email",
    autopilot: row.autopilot === 1,
    token: String(row.token),
    unsubscribeToken: String(row.unsubscribeToken),
    properties: JSON.parse(String(row.properties)) as Properties,
    scheduledAt: Number(row.scheduledAt),
    attempts: Number(row.attempts),
    firstAttemptAt: row.firstAttemptAt === null ? null : Number(row.firstAttemptAt),
    frozen: toFrozen(row),
    claimer: text(row.claimer),
    claims: Number(row.claims),
    person: {
      id: Number(row.personId),
      email: text(row.email),
      name: text(row.name),
      phoneNumber: text(row.phoneNumber),
    },
  };
}

function toFrozen(row: SqlRow): FrozenMessage | null {
  if (row.frozen === null) return null;
  const values = JSON.parse(String(row.frozen)) as JsonObject;
  return { messageId: String(row.messageId), bounceToken: text(row.bounceToken), values };
}

function text(value: SqlValue | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

export async function listErased(database: Database, limit: number): Promise<ErasedSurvey[]> {
  const rows = await database.all(
    `SELECT project_id AS "projectId", request_id AS "requestId", channel, token FROM erased_surveys LIMIT ?`,
    [limit],
  );
  return rows.map((row) => ({
    project: { id: Number(row.projectId) },
    requestId: Number(row.requestId),
    channel: row.channel === "sms" ? "sms" : "email",
    token: String(row.token),
  }));
}

/** Notes requests whose messages may be in the outbox: those that were claimed at some time. */
export function noteErased(database: Database, where: string, values: readonly SqlValue[]): void {
  database.send(
    `INSERT INTO erased_surveys (token, project_id, request_id, channel)
     SELECT token, project_id, id, channel FROM survey_requests WHERE ${where} AND claims > 0 ON CONFLICT DO NOTHING`,
    values,
  );
}

/** Deletes requests and returns how many; their messages are noted as erased in the same transaction. */
export async function deleteRequests(database: Database, where: string, values: readonly SqlValue[]): Promise<number> {
  noteErased(database, where, values);
  return database.run(`DELETE FROM survey_requests WHERE ${where}`, values);
}

/** This very claim, not a later one on the same request. */
export const THIS_CLAIM = "project_id = ? AND id = ? AND claimer IS NOT DISTINCT FROM ? AND claims = ?";

export function claimKey({ project, requestId, claimer, claims }: ClaimKey): (string | number | null)[] {
  return [project.id, requestId, claimer, claims];
}

export function renewClaims(database: Database, claims: readonly ClaimKey[], dueAt: number): void {
  const sql = `UPDATE survey_requests SET due_at = ? WHERE ${THIS_CLAIM} AND state = 'claimed'`;
  for (const claim of claims) database.send(sql, [dueAt, ...claimKey(claim)]);
}

/** Whose claims are not these schedulers'. */
function claimedByOthers(project: number | null, living: readonly string[]): string {
  const inProject = project === null ? "" : "project_id = ? AND ";
  const isClaimed = `${inProject}claimer IS NOT NULL`;
  return living.length === 0 ? isClaimed : `${isClaimed} AND claimer NOT IN (${living.map(() => "?").join(", ")})`;
}

export async function listClaimedProjects(database: Database, living: readonly string[]): Promise<number[]> {
  const sql = `SELECT DISTINCT project_id FROM survey_requests WHERE ${claimedByOthers(null, living)} ORDER BY project_id`;
  return (await database.all(sql, living)).map((row) => Number(row.project_id));
}

/** One that was cancelled while it was claimed stays so, without its claim. */
export async function releaseClaims(
  database: Database,
  now: number,
  project: number | null,
  living: readonly string[],
): Promise<number> {
  const others = claimedByOthers(project, living);
  const values = project === null ? living : [project, ...living];
  noteErased(database, `${others} AND state = 'cancelled'`, values);
  database.send(`UPDATE survey_requests SET claimer = NULL WHERE ${others} AND state = 'cancelled'`, values);
  return database.run(
    `UPDATE survey_requests SET state = CASE WHEN attempts > 0 THEN 'retrying' ELSE 'scheduled' END, due_at = ?, claimer = NULL
     WHERE ${others} AND state = 'claimed'`,
    [now, ...values],
  );
}

export async function listTransmitting(
  database: Database,
  project: number | null,
  living: readonly string[],
): Promise<DueSurvey[]> {
  const others = claimedByOthers(project, living).replace("project_id", "q.project_id");
  const values = project === null ? living : [project, ...living];
  return (await database.all(`${SURVEY} WHERE ${others} AND q.state = 'transmitting'`, values)).map(toDueSurvey);
}
