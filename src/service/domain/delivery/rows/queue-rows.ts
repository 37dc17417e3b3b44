import type { ClaimKey, DeliveryChange, FrozenMessage, QueueRows } from "../queue-rows.ts";
import { nextId } from "../../projects/project-rows.ts";
import { readQuietHours, readState, writeQuietHours, writeState } from "./delivery-state.ts";
import { sendRow, updateRows } from "../../../sql/lists/counted-rows.ts";
import type { Database, Session, SqlValue } from "../../../sql/database.ts";
import {
  claimKey,
  claimSome,
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
  thisClaim,
} from "./claims.ts";
import { countInTurn } from "./due-messages.ts";

async function listLiving(database: Database, since: number): Promise<string[]> {
  const rows = await database.all("SELECT name FROM processes WHERE seen_at > ? ORDER BY name", [since]);
  return rows.map(({ name }) => String(name));
}

const DAILY_LIMIT = "daily limit";
/** A process that ended without leaving is forgotten after this long. */
const FORGOTTEN_SECONDS = 3600;

export function createQueueRows(database: Database, session: Session): QueueRows {
  return {
    dueProjects: async (queues) => dueProjects(database, session.now, queues),
    claimDue: async (claim) => claimSome(database, session.now, claim),
    countInTurn: async (shared) => countInTurn(database, session.now, shared),
    nextDueAt: async (queues) => earliestDueAt(database, queues),
    beat: async (claimer, seconds) => {
      database.send(
        "INSERT INTO processes (name, seen_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at",
        [claimer, session.now],
      );
      database.send("DELETE FROM processes WHERE seen_at < ?", [session.now - FORGOTTEN_SECONDS]);
      // The clock was ahead: a process that died then must not live until the clock is there again.
      database.send("UPDATE processes SET seen_at = ? WHERE seen_at > ? + 60", [session.now, session.now]);
      return listLiving(database, session.now - seconds);
    },
    living: async (seconds) => listLiving(database, session.now - seconds),
    leave: async (claimer) => database.send("DELETE FROM processes WHERE name = ?", [claimer]),
    renewClaims: async (held, dueAt) => renewClaims(database, held, dueAt),
    claimedProjects: async (living) => listClaimedProjects(database, living),
    releaseClaims: async (project, living) => releaseClaims(database, session.now, project, living),
    listTransmitting: async (project, living) => listTransmitting(database, project, living),
    isWanted: async (claim) => {
      const row = await database.first(`SELECT state FROM messages WHERE ${THIS_CLAIM}`, claimKey(claim));
      return row === null ? null : row.state !== "cancelled";
    },
    addReminder: async (project, reminder) => addReminder(database, session.now, project, reminder),
    hasNewerSurvey: async (project, surveyId) => {
      const row = await database.first(NEWER_SURVEY, [project, surveyId]);
      return row !== null;
    },
    countLeft: async (project, day) => countLeft(database, project, day),
    dailyLimit: async () => (await readState(database, DAILY_LIMIT)) as number | null,
    setDailyLimit: async (limit) => {
      writeState(database, DAILY_LIMIT, limit);
      database.send("UPDATE projects SET limited_until = ? WHERE limited_until > ?", [session.now, session.now]);
    },
    quietHours: async () => readQuietHours(database),
    setQuietHours: async (hours) => writeQuietHours(database, hours),
    markTransmitting: async (claim, frozen) => markTransmitting(database, session.now, claim, frozen),
    settle: async (claim, change) => settle(database, session.now, claim, change),
    listErased: async (limit) => listErased(database, limit),
    forgetErased: async (surveys) => {
      for (const { project, token } of surveys)
        database.send("DELETE FROM erased_surveys WHERE project_id = ? AND token = ?", [project.id, token]);
    },
  };
}

/** A survey that was asked for earlier may be sent later, after its delay. */
const NEWER_SURVEY = `SELECT n.id FROM messages s JOIN messages n ON n.project_id = s.project_id AND n.person_id = s.person_id
  WHERE s.project_id = ? AND s.id = ? AND n.id <> s.id AND (n.state IN ('claimed', 'transmitting') OR
    (CASE WHEN n.state = 'unknown' THEN n.transmitting_at ELSE n.sent_at END, n.id) > (coalesce(s.sent_at, 0), s.id)) LIMIT 1`;

async function addReminder(
  database: Database,
  now: number,
  project: number,
  { surveyId, channel, scheduledAt }: Parameters<QueueRows["addReminder"]>[1],
): Promise<void> {
  const queue = channel === "sms" ? "sms-reminder" : "reminder";
  const old = await database.first("SELECT id FROM messages WHERE project_id = ? AND request_id = ? AND channel = ?", [
    project,
    surveyId,
    queue,
  ]);
  if (old !== null) return;
  sendRow(database, "messages", {
    project_id: project,
    id: await nextId(database, project),
    channel: queue,
    request_id: surveyId,
    state: "scheduled",
    created_at: now,
    scheduled_at: scheduledAt,
    due_at: scheduledAt,
  });
}

const COUNTED = "channel IN ('email', 'sms', 'reminder', 'sms-reminder')";
const LEFT = `SELECT count(*) AS n FROM messages
  WHERE project_id = ? AND ${COUNTED} AND sent_at >= ? AND sent_at < ?`;
/** One that ended without a reply may have arrived: it counts when its mark was made. */
const LEAVING = `SELECT count(CASE WHEN state = 'unknown' THEN 1 END) AS unknown,
  count(CASE WHEN state <> 'unknown' THEN 1 END) AS leaving FROM messages
  WHERE project_id = ? AND ${COUNTED} AND state IN ('claimed', 'transmitting', 'unknown')
    AND (state <> 'unknown' OR (transmitting_at >= ? AND transmitting_at < ?))`;

async function countLeft(
  database: Database,
  project: number,
  { beginsAt, nextAt }: Parameters<QueueRows["countLeft"]>[1],
): Promise<{ readonly sent: number; readonly leaving: number }> {
  const left = await database.first(LEFT, [project, beginsAt, nextAt]);
  const others = await database.first(LEAVING, [project, beginsAt, nextAt]);
  return { sent: Number(left?.n) + Number(others?.unknown), leaving: Number(others?.leaving) };
}

/** The first mark and what it froze are kept. */
async function markTransmitting(
  database: Database,
  now: number,
  claim: ClaimKey,
  frozen: FrozenMessage | null,
): Promise<boolean> {
  const { messageId = null, bounceToken = null } = frozen ?? {};
  const set = `state = 'transmitting', due_at = NULL, transmitting_at = ?,
    message_id = coalesce(message_id, ?), bounce_token = coalesce(bounce_token, ?), frozen = coalesce(frozen, ?)`;
  const values = [now, messageId, bounceToken, frozen === null ? null : JSON.stringify(frozen.values)];
  const marked = [`${THIS_CLAIM} AND state = 'claimed'`, ...claimKey(claim)] as const;
  return (await updateRows(database, "messages", [set, ...values], marked)) > 0;
}

async function settle(
  database: Database,
  now: number,
  claim: ClaimKey,
  { state, dueAt, scheduledAt, sentAt, reason, isAttempt }: DeliveryChange,
): Promise<boolean> {
  const sql = `SELECT state, person_id AS "personId" FROM messages WHERE ${THIS_CLAIM}`;
  const row = await database.first(sql, claimKey(claim));
  if (row === null) return false;
  // A message that was cancelled meanwhile stays so, unless it had gone already.
  const isCancelled = row.state === "cancelled" && state !== "sent" && state !== "bounced";
  if (isCancelled) noteErased(database, thisClaim(claim));
  if (scheduledAt !== undefined) putOff(database, now, claim, row.personId ?? null);
  const set = `state = ?, due_at = ?, scheduled_at = coalesce(?, scheduled_at), sent_at = coalesce(?, sent_at),
    claimer = NULL, reason = CASE WHEN ? = 1 THEN coalesce(reason, ?) ELSE ? END,
    attempts = attempts + ?, first_attempt_at = coalesce(first_attempt_at, ?)`;
  const values = [
    isCancelled ? "cancelled" : state,
    isCancelled ? null : dueAt,
    scheduledAt ?? null,
    sentAt,
    isCancelled ? 1 : 0,
    reason,
    reason,
    isAttempt ? 1 : 0,
    isAttempt ? now : null,
  ];
  await updateRows(database, "messages", [set, ...values], thisClaim(claim));
  if (typeof row.personId === "number") refreshNextSurvey(database, claim.project.id, row.personId);
  return true;
}

/** Keeps the place of a message that moves to a later moment; a membership tells that its survey was moved. */
function putOff(database: Database, now: number, claim: ClaimKey, personId: SqlValue): void {
  database.send(
    `UPDATE messages SET planned_at = coalesce(planned_at, scheduled_at) WHERE ${THIS_CLAIM}`,
    claimKey(claim),
  );
  if (personId === null) return;
  database.send(
    "UPDATE memberships SET updated_at = ? WHERE project_id = ? AND person_id = ? AND next_request_id = ?",
    [now, claim.project.id, personId, claim.requestId],
  );
}
