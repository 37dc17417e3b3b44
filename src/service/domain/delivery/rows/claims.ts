/** Claims of due messages. A claim is a lease; when it expires, the message is due again. */
import {
  type ClaimKey,
  type DueMessage,
  type DueProjects,
  type ErasedSurvey,
  isLimited,
  type OutgoingChannel,
  type Queue,
} from "../queue-rows.ts";
import { type Database, numberOrNull } from "../../../sql/database.ts";
import { deleteRows, type Fragment, updateRows } from "../../../sql/lists/counted-rows.ts";
import { findTransmitting } from "./due-messages.ts";

export const IS_WAITING = "state IN ('scheduled', 'claimed', 'transmitting', 'retrying', 'held')";

export const WAITING_AGAIN = "CASE WHEN attempts > 0 THEN 'retrying' ELSE 'scheduled' END";

function mayLeave({ withPaused }: Queue): string {
  return withPaused ? "true" : "p.paused_at IS NULL";
}

/** All queues in one statement, because a scheduler looks often. */
export async function dueProjects(database: Database, now: number, queues: readonly Queue[]): Promise<DueProjects> {
  const due = new Map<OutgoingChannel, number[]>();
  if (queues.length === 0) return due;
  const some = queues.map((queue) => {
    const limited = isLimited(queue.channel) ? " AND coalesce(p.limited_until, 0) <= ?" : "";
    return `SELECT '${queue.channel}' AS channel, p.id FROM projects p WHERE ${mayLeave(queue)}${limited} AND EXISTS
      (SELECT 1 FROM messages q WHERE q.project_id = p.id AND q.channel = '${queue.channel}' AND q.due_at <= ?)`;
  });
  const values = queues.flatMap(({ channel }) => (isLimited(channel) ? [now, now] : [now]));
  const found = await database.all(some.join(" UNION ALL "), values);
  for (const { channel } of queues) {
    const ids = found.filter((row) => row.channel === channel).map(({ id }) => Number(id));
    due.set(
      channel,
      ids.toSorted((one, other) => one - other),
    );
  }
  return due;
}

/**
 * `people.next_survey_at`: the person's earliest pending request. It doesn't select by state, because an engine without
 * statistics would then scan the index of states for every survey that is sent.
 */
export const NEXT_SURVEY_AT = `(SELECT min(CASE WHEN r.${IS_WAITING} THEN r.scheduled_at END) FROM messages r
  WHERE r.project_id = people.project_id AND r.person_id = people.id)`;

export function refreshNextSurvey(database: Database, project: number, personId: number): void {
  database.send(`UPDATE people SET next_survey_at = ${NEXT_SURVEY_AT} WHERE project_id = ? AND id = ?`, [
    project,
    personId,
  ]);
}

/** When the next message or lease is due; each project's is the first entry of its index. */
export async function earliestDueAt(database: Database, queues: readonly Queue[]): Promise<number | null> {
  if (queues.length === 0) return null;
  const firsts = queues.map((queue) => {
    const mayLeaveAt = isLimited(queue.channel)
      ? "CASE WHEN limited_until > first_at THEN limited_until ELSE first_at END"
      : "first_at";
    return `SELECT min(${mayLeaveAt}) AS at
     FROM (SELECT p.limited_until, (SELECT q.due_at FROM messages q
       WHERE q.project_id = p.id AND q.channel = '${queue.channel}' AND q.due_at IS NOT NULL
       ORDER BY q.due_at LIMIT 1) AS first_at
     FROM projects p WHERE ${mayLeave(queue)}) AS firsts`;
  });
  const row = await database.first(`SELECT min(at) AS at FROM (${firsts.join(" UNION ALL ")}) AS earliest`);
  return numberOrNull(row?.at);
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

/** Records requests whose messages may be in the outbox, because they were claimed at some time. */
export function noteErased(database: Database, [where, ...values]: Fragment): void {
  database.send(
    `INSERT INTO erased_surveys (token, project_id, request_id, channel)
     SELECT token, project_id, id, channel FROM messages WHERE ${where} AND claims > 0 AND token IS NOT NULL
     ON CONFLICT DO NOTHING`,
    values,
  );
}

/** Deletes requests and returns their number. Their messages are recorded as erased in the same transaction. */
export async function deleteRequests(database: Database, project: number, where: Fragment): Promise<number> {
  const [sql, ...values] = where;
  noteErased(database, [`project_id = ? AND ${sql}`, project, ...values]);
  return (await deleteRows(database, "messages", project, where)).length;
}

export const THIS_CLAIM = "project_id = ? AND id = ? AND claimer IS NOT DISTINCT FROM ? AND claims = ?";

export function claimKey({ project, requestId, claimer, claims }: ClaimKey): (string | number | null)[] {
  return [project.id, requestId, claimer, claims];
}

export function thisClaim(claim: ClaimKey): Fragment {
  return [THIS_CLAIM, ...claimKey(claim)];
}

export function renewClaims(database: Database, claims: readonly ClaimKey[], dueAt: number): void {
  const sql = `UPDATE messages SET due_at = ? WHERE ${THIS_CLAIM} AND state = 'claimed'`;
  for (const claim of claims) database.send(sql, [dueAt, ...claimKey(claim)]);
}

function claimedByOthers(project: number | null, living: readonly string[], prefix = ""): string {
  const inProject = project === null ? "" : `${prefix}project_id = ? AND `;
  const isClaimed = `${inProject}${prefix}claimer IS NOT NULL`;
  const marks = living.map(() => "?").join(", ");
  return living.length === 0 ? isClaimed : `${isClaimed} AND ${prefix}claimer NOT IN (${marks})`;
}

export async function listClaimedProjects(database: Database, living: readonly string[]): Promise<number[]> {
  const sql = `SELECT DISTINCT project_id FROM messages WHERE ${claimedByOthers(null, living)} ORDER BY project_id`;
  return (await database.all(sql, living)).map((row) => Number(row.project_id));
}

/** A message that was cancelled while claimed stays cancelled, without its claim. */
export async function releaseClaims(
  database: Database,
  now: number,
  project: number | null,
  living: readonly string[],
): Promise<number> {
  const others = claimedByOthers(project, living);
  const values = project === null ? living : [project, ...living];
  noteErased(database, [`${others} AND state = 'cancelled'`, ...values]);
  database.send(`UPDATE messages SET claimer = NULL WHERE ${others} AND state = 'cancelled'`, values);
  const set = [`state = ${WAITING_AGAIN}, due_at = ?, claimer = NULL`, now] as const;
  return updateRows(database, "messages", set, [`${others} AND state = 'claimed'`, ...values]);
}

export async function listTransmitting(
  database: Database,
  project: number | null,
  living: readonly string[],
): Promise<DueMessage[]> {
  const others = claimedByOthers(project, living, "q.");
  const values = project === null ? living : [project, ...living];
  return findTransmitting(database, others, values);
}
