import { Rows } from "../../../sql/rows.ts";
import {
  type ClaimKey,
  type ClaimedState,
  type DeliveryChange,
  type FoundMessage,
  type FrozenMessage,
  type DueMessage,
  type ErasedSurvey,
  type Claim,
  isLimited,
  type OutgoingChannel,
  type ReminderQueue,
  type SharedRoom,
  type Queue,
  type DueProjects,
} from "../queue-rows.ts";
import { sendRow, updateRows } from "../../../sql/lists/counted-rows.ts";
import { numberOrNull, type SqlRow } from "../../../sql/database.ts";
import { claimKey, noteErased, refreshNextSurvey, NEXT_SURVEY_AT, THIS_CLAIM, WAITING_AGAIN } from "./claims.ts";
import { IN_TURN, KINDS, toDue } from "./due-messages.ts";
import { readRow } from "../../../sql/columns.ts";

const FORGOTTEN_SECONDS = 3600;

export class QueueRows extends Rows {
  /** Queries all queues in one statement, because schedulers call this often. */
  async dueProjects(queues: readonly Queue[]): Promise<DueProjects> {
    const due = new Map<OutgoingChannel, number[]>();
    if (queues.length === 0) return due;
    const { now } = this.session;
    const some = queues.map((queue) => {
      const limited = isLimited(queue.channel) ? " AND coalesce(p.limited_until, 0) <= ?" : "";
      return `SELECT '${queue.channel}' AS channel, p.id ${EACH_PROJECT} WHERE ${mayLeave(queue)}${limited} AND EXISTS
        (SELECT 1 FROM messages q WHERE q.project_id = s.project_id AND q.channel = '${queue.channel}' AND q.due_at <= ?)`;
    });
    const values = queues.flatMap(({ channel }) => (isLimited(channel) ? [now, now] : [now]));
    const found = await this.database.all(some.join(" UNION ALL "), values);
    for (const { channel } of queues) {
      const ids = found.filter((row) => row.channel === channel).map(({ id }) => Number(id));
      due.set(
        channel,
        ids.toSorted((one, other) => one - other),
      );
    }
    return due;
  }

  /** Earliest first. With `isInTurn`, sorts by planned time, so that postponed messages keep their place. */
  async listDue({ project, channel, limit, isInTurn = false }: Claim): Promise<readonly FoundMessage[]> {
    const rows = await this.database.all(
      `${KINDS[channel]} WHERE q.project_id = ? AND q.channel = ? AND q.due_at <= ?
       ORDER BY ${isInTurn ? IN_TURN : "q.due_at, q.id"} LIMIT ?`,
      [project, channel, this.session.now, limit],
    );
    return rows.map((row) => ({
      due: toDue(row),
      state: String(row.state),
      isActive: row.autopilot !== 1 || row.active !== 0,
    }));
  }

  async claim({ due, state }: FoundMessage, { claimer, leaseSeconds }: Claim): Promise<DueMessage> {
    const set = [
      "state = 'claimed', claimer = ?, due_at = ?, claims = claims + 1",
      claimer,
      this.session.now + leaseSeconds,
    ] as const;
    await updateRows(this.database, "messages", set, ["project_id = ? AND id = ?", due.project.id, due.requestId], {
      state,
    });
    return { ...due, claimer, claims: due.claims + 1 };
  }

  /** Takes a survey off the queue until its Autopilot is switched on again. */
  async pause({ due }: FoundMessage): Promise<void> {
    const message = ["project_id = ? AND id = ?", due.project.id, due.requestId] as const;
    await updateRows(this.database, "messages", ["state = 'paused', due_at = NULL, claimer = NULL"], message);
    if ("person" in due) refreshNextSurvey(this.database, due.project.id, due.person.id);
  }

  /** How many of a project's first `room` due messages on these channels belong to `channel`. */
  async countInTurn({ project, channel, channels, room }: SharedRoom): Promise<number> {
    const marks = channels.map(() => "?").join(", ");
    const row = await this.database.first(
      `SELECT count(*) AS n FROM (SELECT q.channel FROM messages q
         WHERE q.project_id = ? AND q.channel IN (${marks}) AND q.due_at <= ? ORDER BY ${IN_TURN} LIMIT ?) AS turn
       WHERE turn.channel = ?`,
      [project, ...channels, this.session.now, room, channel],
    );
    return Number(row?.n);
  }

  async nextDueAt(queues: readonly Queue[]): Promise<number | null> {
    if (queues.length === 0) return null;
    const firsts = queues.map((queue) => {
      const mayLeaveAt = isLimited(queue.channel)
        ? "CASE WHEN limited_until > first_at THEN limited_until ELSE first_at END"
        : "first_at";
      return `SELECT min(${mayLeaveAt}) AS at
       FROM (SELECT p.limited_until, (SELECT q.due_at FROM messages q
         WHERE q.project_id = s.project_id AND q.channel = '${queue.channel}' AND q.due_at IS NOT NULL
         ORDER BY q.due_at LIMIT 1) AS first_at
       ${EACH_PROJECT} WHERE ${mayLeave(queue)}) AS firsts`;
    });
    const row = await this.database.first(`SELECT min(at) AS at FROM (${firsts.join(" UNION ALL ")}) AS earliest`);
    return numberOrNull(row?.at);
  }

  /** Records that this process is alive, and returns the names of all processes seen within `seconds`. */
  async beat(claimer: string, seconds: number): Promise<readonly string[]> {
    const { now } = this.session;
    this.database.send(
      "INSERT INTO processes (name, seen_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at",
      [claimer, now],
    );
    this.database.send("DELETE FROM processes WHERE seen_at < ?", [now - FORGOTTEN_SECONDS]);
    // If the clock was ahead, dead processes have times in the future, and would seem alive until then.
    this.database.send("UPDATE processes SET seen_at = ? WHERE seen_at > ? + 60", [now, now]);
    return this.living(seconds);
  }

  async living(seconds: number): Promise<readonly string[]> {
    const sql = "SELECT name FROM processes WHERE seen_at > ? ORDER BY name";
    return (await this.database.all(sql, [this.session.now - seconds])).map(({ name }) => String(name));
  }

  async leave(claimer: string): Promise<void> {
    this.database.send("DELETE FROM processes WHERE name = ?", [claimer]);
  }

  async renewClaims(claims: readonly ClaimKey[], dueAt: number): Promise<void> {
    const sql = `UPDATE messages SET due_at = ? WHERE ${THIS_CLAIM} AND state = 'claimed'`;
    for (const claim of claims) this.database.send(sql, [dueAt, ...claimKey(claim)]);
  }

  async claimedProjects(living: readonly string[]): Promise<readonly number[]> {
    const sql = `SELECT DISTINCT project_id FROM messages q WHERE ${claimedByOthers(living)} ORDER BY project_id`;
    return (await this.database.all(sql, living)).map((row) => Number(row.project_id));
  }

  /** Messages in transmission stay claimed; cancelled ones lose their claim. Returns how many are due again. */
  async releaseClaims(project: number, living: readonly string[]): Promise<number> {
    const where = `project_id = ? AND ${claimedByOthers(living, "")}` as const;
    const values = [project, ...living];
    noteErased(this.database, [`${where} AND state = 'cancelled'`, ...values]);
    this.database.send(`UPDATE messages SET claimer = NULL WHERE ${where} AND state = 'cancelled'`, values);
    const set = [`state = ${WAITING_AGAIN}, due_at = ?, claimer = NULL`, this.session.now] as const;
    return updateRows(this.database, "messages", set, [`${where} AND state = 'claimed'`, ...values]);
  }

  async listTransmitting(project: number, living: readonly string[]): Promise<readonly DueMessage[]> {
    const where = `q.project_id = ? AND ${claimedByOthers(living)} AND q.channel = ? AND q.state = 'transmitting'`;
    const found: SqlRow[] = [];
    for (const [channel, kind] of Object.entries(KINDS))
      found.push(...(await this.database.all(`${kind} WHERE ${where}`, [project, ...living, channel])));
    return found.map(toDue);
  }

  async addReminder(
    project: number,
    reminder: { readonly surveyId: number; readonly queue: ReminderQueue; readonly scheduledAt: number },
  ): Promise<void> {
    const { surveyId, queue, scheduledAt } = reminder;
    const sql = "SELECT id FROM messages WHERE project_id = ? AND request_id = ? AND channel = ?";
    if ((await this.database.first(sql, [project, surveyId, queue])) !== null) return;
    sendRow(this.database, "messages", {
      project_id: project,
      id: await this.nextId(project),
      channel: queue,
      request_id: surveyId,
      state: "scheduled",
      created_at: this.session.now,
      scheduled_at: scheduledAt,
      due_at: scheduledAt,
    });
  }

  async hasNewerSurvey(project: number, surveyId: number): Promise<boolean> {
    return (await this.database.first(NEWER_SURVEY, [project, surveyId])) !== null;
  }

  /** Surveys and reminders that were (or may have been) sent on a day, and those in flight. */
  async countLeft(
    project: number,
    { beginsAt, nextAt }: { readonly beginsAt: number; readonly nextAt: number },
  ): Promise<{ readonly sent: number; readonly leaving: number }> {
    const left = await this.database.first(LEFT, [project, beginsAt, nextAt]);
    const others = await this.database.first(LEAVING, [project, beginsAt, nextAt]);
    return { sent: Number(left?.n) + Number(others?.unknown), leaving: Number(others?.leaving) };
  }

  /** Keeps the values that were frozen first. False if the claim was lost. */
  async markTransmitting(claim: ClaimKey, frozen: FrozenMessage | null): Promise<boolean> {
    const { messageId = null, bounceToken = null } = frozen ?? {};
    const set = `state = 'transmitting', due_at = NULL, transmitting_at = ?,
      message_id = coalesce(message_id, ?), bounce_token = coalesce(bounce_token, ?), frozen = coalesce(frozen, ?)`;
    const values = [this.session.now, messageId, bounceToken, frozen === null ? null : JSON.stringify(frozen.values)];
    const marked = [`${THIS_CLAIM} AND state = 'claimed'`, ...claimKey(claim)] as const;
    return (await updateRows(this.database, "messages", [set, ...values], marked, { state: "claimed" })) > 0;
  }

  /** Null if the claim is no longer valid. */
  async claimed(claim: ClaimKey): Promise<ClaimedState | null> {
    const sql = `SELECT state, sent_at AS "sentAt", person_id AS "personId", reason FROM messages WHERE ${THIS_CLAIM}`;
    return (await this.database.first(sql, claimKey(claim))) as ClaimedState | null;
  }

  async settle(claim: ClaimKey, { personId, ...old }: ClaimedState, change: DeliveryChange): Promise<void> {
    const { state, dueAt, scheduledAt, sentAt, reason, isAttempt } = change;
    const { now } = this.session;
    if (scheduledAt !== undefined) this.#putOff(claim, personId);
    const set = `state = ?, due_at = ?, scheduled_at = coalesce(?, scheduled_at), sent_at = coalesce(?, sent_at),
      claimer = NULL, reason = ?, attempts = attempts + ?, first_attempt_at = coalesce(first_attempt_at, ?)`;
    const attempt = isAttempt ? [1, now] : [0, null];
    const values = [state, dueAt, scheduledAt ?? null, sentAt, reason, ...attempt];
    const known = { state: old.state, sent_at: old.sentAt };
    await updateRows(this.database, "messages", [set, ...values], [THIS_CLAIM, ...claimKey(claim)], known);
    if (personId === null) return;
    this.database.send(
      `UPDATE people SET next_survey_at = ${NEXT_SURVEY_AT},
         last_sent_at = CASE WHEN last_sent_at > ? THEN last_sent_at ELSE coalesce(?, last_sent_at) END
       WHERE project_id = ? AND id = ?`,
      [sentAt, sentAt, claim.project.id, personId],
    );
  }

  /** Keeps the message's place in the queue, and marks the membership as changed because its survey moved. */
  #putOff(claim: ClaimKey, personId: number | null): void {
    const sql = `UPDATE messages SET planned_at = coalesce(planned_at, scheduled_at) WHERE ${THIS_CLAIM}`;
    this.database.send(sql, claimKey(claim));
    if (personId === null) return;
    this.database.send(
      "UPDATE memberships SET updated_at = ? WHERE project_id = ? AND person_id = ? AND next_request_id = ?",
      [this.session.now, claim.project.id, personId, claim.requestId],
    );
  }

  /** The message may be in an outbox: see `listErased`. */
  async eraseMessage(claim: ClaimKey): Promise<void> {
    noteErased(this.database, [THIS_CLAIM, ...claimKey(claim)]);
  }

  /** Erased surveys, in all projects, whose messages may be in an outbox. */
  async listErased(limit: number): Promise<readonly ErasedSurvey[]> {
    const rows = await this.database.all(
      `SELECT project_id AS "project.id", request_id AS "requestId", channel, token FROM erased_surveys LIMIT ?`,
      [limit],
    );
    return rows.map((row) => readRow<ErasedSurvey>(row));
  }

  /** Call this once all messages of these surveys are deleted. */
  async forgetErased(surveys: readonly ErasedSurvey[]): Promise<void> {
    for (const { project, token } of surveys)
      this.database.send("DELETE FROM erased_surveys WHERE project_id = ? AND token = ?", [project.id, token]);
  }
}

/** Citus allows correlated subqueries only from a table that is distributed like `messages`, unlike `projects`. */
const EACH_PROJECT = "FROM project_state s JOIN projects p ON p.id = s.project_id";

function mayLeave({ withPaused }: Queue): string {
  return withPaused ? "true" : "p.paused_at IS NULL";
}

function claimedByOthers(living: readonly string[], prefix = "q."): string {
  const isOther = living.length === 0 ? "" : ` AND ${prefix}claimer NOT IN (${living.map(() => "?").join(", ")})`;
  return `${prefix}claimer IS NOT NULL${isOther}`;
}

/** Compares the times of sending, because an earlier request can be sent later if it has a delay. */
const NEWER_SURVEY = `SELECT n.id FROM messages s JOIN messages n ON n.project_id = s.project_id AND n.person_id = s.person_id
  WHERE s.project_id = ? AND s.id = ? AND n.id <> s.id AND (n.state IN ('claimed', 'transmitting') OR
    (CASE WHEN n.state = 'unknown' THEN n.transmitting_at ELSE n.sent_at END, n.id) > (coalesce(s.sent_at, 0), s.id)) LIMIT 1`;

const COUNTED = "channel IN ('email', 'sms', 'reminder', 'sms-reminder')";
const LEFT = `SELECT count(*) AS n FROM messages
  WHERE project_id = ? AND ${COUNTED} AND sent_at >= ? AND sent_at < ?`;
/** Unknown messages may have arrived, so they count on the day when their transmission began. */
const LEAVING = `SELECT count(CASE WHEN state = 'unknown' THEN 1 END) AS unknown,
  count(CASE WHEN state <> 'unknown' THEN 1 END) AS leaving FROM messages
  WHERE project_id = ? AND ${COUNTED} AND state IN ('claimed', 'transmitting', 'unknown')
    AND (state <> 'unknown' OR (transmitting_at >= ? AND transmitting_at < ?))`;
