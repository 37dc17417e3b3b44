/** Claims of due survey requests: a claim is a lease, and a lease that runs out makes the request due again. */
import type { Properties } from "../../../../contract/resources.ts";
import type { Claim, DueSurvey, ErasedSurvey } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";
import type { SqlRow, SqlValue } from "../engine/engine.ts";

const DUE = `SELECT q.project_id AS "projectId", p.name AS "projectName", q.id, q.channel, q.autopilot, q.token, q.properties,
  q.scheduled_at AS "scheduledAt", q.attempts, q.person_id AS "personId", w.email, w.name, w.phone_number AS "phoneNumber"
  FROM survey_requests q
  JOIN projects p ON p.id = q.project_id
  JOIN people w ON w.project_id = q.project_id AND w.id = q.person_id
  WHERE q.due_at <= ? ORDER BY q.due_at, q.project_id, q.id LIMIT ?`;

/** See `RequestRows`; `now` is the transaction's, Unix seconds. */
export function claimDue(database: Database, now: number, { claimer, leaseSeconds, limit }: Claim): DueSurvey[] {
  pauseInactive(database, now);
  const rows = database.all(DUE, [now, limit]);
  for (const row of rows) {
    database.run(
      "UPDATE survey_requests SET claimer = ?, due_at = ?, attempts = attempts + 1 WHERE project_id = ? AND id = ?",
      [claimer, now + leaseSeconds, Number(row.projectId), Number(row.id)],
    );
  }
  return rows.map((row) => toDueSurvey(row, claimer));
}

/** Those of an inactive Autopilot that were on their way when it was switched off, and came back. */
function pauseInactive(database: Database, now: number): void {
  database.run(
    `UPDATE survey_requests SET state = 'paused', due_at = NULL, claimer = NULL
     WHERE due_at <= ? AND autopilot = 1 AND EXISTS (SELECT 1 FROM autopilot_configurations c
       WHERE c.project_id = survey_requests.project_id AND c.platform = survey_requests.channel AND c.active = 0)`,
    [now],
  );
}

function toDueSurvey(row: SqlRow, claimer: string): DueSurvey {
  return {
    project: { id: Number(row.projectId), name: String(row.projectName) },
    requestId: Number(row.id),
    channel: row.channel === "sms" ? "sms" : "email",
    autopilot: row.autopilot === 1,
    token: String(row.token),
    properties: JSON.parse(String(row.properties)) as Properties,
    scheduledAt: Number(row.scheduledAt),
    attempts: Number(row.attempts),
    claimer,
    person: {
      id: Number(row.personId),
      email: text(row.email),
      name: text(row.name),
      phoneNumber: text(row.phoneNumber),
    },
  };
}

function text(value: SqlValue | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

export function listErased(database: Database, limit: number): ErasedSurvey[] {
  const rows = database.all(
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

/** This very claim, not a later one on the same request. */
const THIS_CLAIM = "project_id = ? AND id = ? AND claimer = ? AND attempts = ?";

function claimKey(due: DueSurvey): (string | number)[] {
  return [due.project.id, due.requestId, due.claimer, due.attempts + 1];
}

export function settleClaim(
  database: Database,
  due: DueSurvey,
  state: "sent" | "failed",
  sentAt: number | null,
): boolean {
  const sql = `UPDATE survey_requests SET state = ?, sent_at = ?, due_at = NULL, claimer = NULL WHERE ${THIS_CLAIM}`;
  return database.run(sql, [state, sentAt, ...claimKey(due)]) > 0;
}

export function postpone(database: Database, due: DueSurvey, dueAt: number): boolean {
  const dropped = database.run(
    `DELETE FROM survey_requests WHERE ${THIS_CLAIM} AND state = 'cancelled'`,
    claimKey(due),
  );
  if (dropped > 0) return true;
  return (
    database.run(`UPDATE survey_requests SET due_at = ?, claimer = NULL WHERE ${THIS_CLAIM}`, [
      dueAt,
      ...claimKey(due),
    ]) > 0
  );
}

export function releaseClaims(database: Database, now: number, living: readonly string[]): number {
  const others = living.map(() => "?").join(", ");
  return database.run(
    `UPDATE survey_requests SET due_at = ?, claimer = NULL WHERE due_at IS NOT NULL AND claimer IS NOT NULL AND claimer NOT IN (${others})`,
    [now, ...living],
  );
}
