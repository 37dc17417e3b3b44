/** Claims of due survey requests: a claim is a lease, and a lease that runs out makes the request due again. */
import type { Properties } from "../../../../contract/resources.ts";
import type { Claim, DueSurvey, ErasedSurvey } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";
import type { SqlRow, SqlValue } from "../engine/engine.ts";

const DUE = `SELECT q.project_id AS "projectId", p.name AS "projectName", q.id, q.channel, q.autopilot, q.token, q.properties,
  q.scheduled_at AS "scheduledAt", q.attempts, q.person_id AS "personId", w.email, w.name, w.phone_number AS "phoneNumber",
  c.active
  FROM survey_requests q
  JOIN projects p ON p.id = q.project_id
  JOIN people w ON w.project_id = q.project_id AND w.id = q.person_id
  JOIN autopilot_configurations c ON c.project_id = q.project_id AND c.platform = q.channel
  WHERE q.project_id = ? AND q.due_at <= ? ORDER BY q.due_at, q.id LIMIT ?`;

const PROJECTS_WITH_DUE = `SELECT p.id FROM projects p
  WHERE EXISTS (SELECT 1 FROM survey_requests q WHERE q.project_id = p.id AND q.due_at <= ?) ORDER BY p.id`;

interface Claims {
  /** See `RequestRows`; `now` is the transaction's, Unix seconds. */
  readonly claimDue: (now: number, claim: Claim) => DueSurvey[];
}

/** Remembers whose turn was last, so that a batch smaller than the number of projects still reaches every project. */
export function createClaims(database: Database): Claims {
  const turn = { last: 0 };
  return {
    claimDue: (now, claim) => {
      const due = database.all(PROJECTS_WITH_DUE, [now]).map(({ id }) => Number(id));
      const projects = [...due.filter((id) => id > turn.last), ...due.filter((id) => id <= turn.last)];
      const claimed: DueSurvey[] = [];
      // First an equal share for each project; a second round gives to the others what some did not need.
      for (let round = 0; round < 2; round += 1) {
        for (const [index, project] of projects.entries()) {
          const room = claim.limit - claimed.length;
          if (room <= 0) break;
          const share = round === 0 ? Math.ceil(room / (projects.length - index)) : room;
          claimed.push(...claimFrom(database, project, now, { ...claim, limit: share }));
          if (round === 0) turn.last = project;
        }
      }
      return claimed;
    },
  };
}

function claimFrom(database: Database, project: number, now: number, claim: Claim): DueSurvey[] {
  const { claimer, leaseSeconds, limit } = claim;
  const claimed: DueSurvey[] = [];
  for (const row of database.all(DUE, [project, now, limit])) {
    const key = [project, Number(row.id)];
    if (row.autopilot === 1 && row.active === 0) {
      pause(database, key, Number(row.personId));
      continue;
    }
    database.run(
      "UPDATE survey_requests SET claimer = ?, due_at = ?, attempts = attempts + 1 WHERE project_id = ? AND id = ?",
      [claimer, now + leaseSeconds, ...key],
    );
    claimed.push(toDueSurvey(row, claimer));
  }
  return claimed;
}

/** One of an inactive Autopilot that was on its way when it was switched off, and came back. */
function pause(database: Database, key: readonly number[], personId: number): void {
  database.run(
    "UPDATE survey_requests SET state = 'paused', due_at = NULL, claimer = NULL WHERE project_id = ? AND id = ?",
    key,
  );
  refreshNextSurvey(database, key[0] ?? 0, personId);
}

/** Looks the earliest waiting request of one person up again. */
export function refreshNextSurvey(database: Database, project: number, personId: number): void {
  database.run(
    `UPDATE people SET next_survey_at =
       (SELECT min(scheduled_at) FROM survey_requests r WHERE r.project_id = people.project_id AND r.person_id = people.id AND r.state = 'waiting')
     WHERE project_id = ? AND id = ?`,
    [project, personId],
  );
}

/** When the next request, or the end of a lease, is due; each project's is the first entry of its index. */
export function nextDueAt(database: Database): number | null {
  const row = database.first(
    `SELECT min(first_at) AS at FROM (SELECT (SELECT q.due_at FROM survey_requests q
       WHERE q.project_id = p.id AND q.due_at IS NOT NULL ORDER BY q.due_at LIMIT 1) AS first_at FROM projects p) AS firsts`,
  );
  return row === null || row.at === null ? null : Number(row.at);
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

/**
 * Deletes requests and returns how many. Those that were claimed at some time are noted in `erased_surveys`, in the
 * same
 * transaction: their messages may be in the outbox.
 */
export function deleteRequests(database: Database, where: string, values: readonly SqlValue[]): number {
  database.run(
    `INSERT INTO erased_surveys (token, project_id, request_id, channel)
     SELECT token, project_id, id, channel FROM survey_requests WHERE ${where} AND attempts > 0`,
    values,
  );
  return database.run(`DELETE FROM survey_requests WHERE ${where}`, values);
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
  const dropped = deleteRequests(database, `${THIS_CLAIM} AND state = 'cancelled'`, claimKey(due));
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
