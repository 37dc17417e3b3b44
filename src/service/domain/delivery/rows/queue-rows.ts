import { Rows } from "../../../sql/rows.ts";
import type {
  ClaimKey,
  ClaimedState,
  DeliveryChange,
  FoundMessage,
  FrozenMessage,
  DueMessage,
  ErasedSurvey,
  Claim,
  SharedRoom,
  Queue,
  DueProjects,
} from "../queue-rows.ts";
import { nextId } from "../../projects/project-rows.ts";
import { DAILY_LIMIT, readQuietHours, readState, writeQuietHours, writeState } from "./delivery-state.ts";
import { sendRow, updateRows } from "../../../sql/lists/counted-rows.ts";
import type { Database } from "../../../sql/database.ts";
import {
  claimKey,
  listClaimedProjects,
  listErased,
  listTransmitting,
  dueProjects,
  earliestDueAt,
  noteErased,
  refreshNextSurvey,
  NEXT_SURVEY_AT,
  releaseClaims,
  renewClaims,
  THIS_CLAIM,
  thisClaim,
} from "./claims.ts";
import { countInTurn, findDue, toDue } from "./due-messages.ts";
import type { Channel } from "../../../../contract/routes.ts";
import type { QuietHours } from "../../surveys/quiet-hours.ts";

async function listLiving(database: Database, since: number): Promise<string[]> {
  const rows = await database.all("SELECT name FROM processes WHERE seen_at > ? ORDER BY name", [since]);
  return rows.map(({ name }) => String(name));
}

const FORGOTTEN_SECONDS = 3600;

export class QueueRows extends Rows {
  async dueProjects(queues: readonly Queue[]): Promise<DueProjects> {
    return dueProjects(this.database, this.session.now, queues);
  }

  /** What is due in a project on a channel, the earliest first. */
  async listDue(claim: Claim): Promise<readonly FoundMessage[]> {
    return (await findDue(this.database, this.session.now, claim)).map((row) => ({
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

  /** Takes a survey off the queue until its Autopilot is switched on. */
  async pause({ due }: FoundMessage): Promise<void> {
    const message = ["project_id = ? AND id = ?", due.project.id, due.requestId] as const;
    await updateRows(this.database, "messages", ["state = 'paused', due_at = NULL, claimer = NULL"], message);
    if ("person" in due) refreshNextSurvey(this.database, due.project.id, due.person.id);
  }

  /** How many of the first `room` due messages belong to the channel. */
  async countInTurn(shared: SharedRoom): Promise<number> {
    return countInTurn(this.database, this.session.now, shared);
  }

  async nextDueAt(queues: readonly Queue[]): Promise<number | null> {
    return earliestDueAt(this.database, queues);
  }

  /** Records that this claimer's process is alive, and returns all that were within `seconds`, by name. */
  async beat(claimer: string, seconds: number): Promise<readonly string[]> {
    this.database.send(
      "INSERT INTO processes (name, seen_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at",
      [claimer, this.session.now],
    );
    this.database.send("DELETE FROM processes WHERE seen_at < ?", [this.session.now - FORGOTTEN_SECONDS]);
    // The clock was ahead: a process that died then must not seem alive until the clock gets there again.
    this.database.send("UPDATE processes SET seen_at = ? WHERE seen_at > ? + 60", [this.session.now, this.session.now]);
    return listLiving(this.database, this.session.now - seconds);
  }

  async living(seconds: number): Promise<readonly string[]> {
    return listLiving(this.database, this.session.now - seconds);
  }

  async leave(claimer: string): Promise<void> {
    this.database.send("DELETE FROM processes WHERE name = ?", [claimer]);
  }

  async renewClaims(held: readonly ClaimKey[], dueAt: number): Promise<void> {
    return renewClaims(this.database, held, dueAt);
  }

  async claimedProjects(living: readonly string[]): Promise<readonly number[]> {
    return listClaimedProjects(this.database, living);
  }

  /**
   * Makes claims of other schedulers due again, unless they are transmitting; null for all projects. Returns the
   * number.
   */
  async releaseClaims(project: number | null, living: readonly string[]): Promise<number> {
    return releaseClaims(this.database, this.session.now, project, living);
  }

  /** Messages that other schedulers were transmitting; null for all projects. */
  async listTransmitting(project: number | null, living: readonly string[]): Promise<readonly DueMessage[]> {
    return listTransmitting(this.database, project, living);
  }

  /** True if the claim is valid and not cancelled; null if it was lost. */
  async isWanted(claim: ClaimKey): Promise<boolean | null> {
    const row = await this.database.first(`SELECT state FROM messages WHERE ${THIS_CLAIM}`, claimKey(claim));
    return row === null ? null : row.state !== "cancelled";
  }

  async addReminder(
    project: number,
    reminder: { readonly surveyId: number; readonly channel: Channel; readonly scheduledAt: number },
  ): Promise<void> {
    return addReminder(this.database, this.session.now, project, reminder);
  }

  async hasNewerSurvey(project: number, surveyId: number): Promise<boolean> {
    const row = await this.database.first(NEWER_SURVEY, [project, surveyId]);
    return row !== null;
  }

  /** A project's surveys that were sent on a day, or may have been, and those in flight. */
  async countLeft(
    project: number,
    day: { readonly beginsAt: number; readonly nextAt: number },
  ): Promise<{ readonly sent: number; readonly leaving: number }> {
    return countLeft(this.database, project, day);
  }

  async dailyLimit(): Promise<number | null> {
    return (await readState(this.database, DAILY_LIMIT)) as number | null;
  }

  /** Releases surveys that wait for the old limit. */
  async setDailyLimit(limit: number | null): Promise<void> {
    writeState(this.database, DAILY_LIMIT, limit);
    this.database.send("UPDATE projects SET limited_until = ? WHERE limited_until > ?", [
      this.session.now,
      this.session.now,
    ]);
  }

  /** Hours without text messages, as last set by a server, or null. Windows for SMS exclude them. */
  async quietHours(): Promise<QuietHours | null> {
    return readQuietHours(this.database);
  }

  async setQuietHours(hours: QuietHours | null): Promise<void> {
    return writeQuietHours(this.database, hours);
  }

  async markTransmitting(claim: ClaimKey, frozen: FrozenMessage | null): Promise<boolean> {
    return markTransmitting(this.database, this.session.now, claim, frozen);
  }

  /** Null if the claim isn't the message's any more. */
  async claimed(claim: ClaimKey): Promise<ClaimedState | null> {
    const sql = `SELECT state, sent_at AS "sentAt", person_id AS "personId", reason FROM messages WHERE ${THIS_CLAIM}`;
    return (await this.database.first(sql, claimKey(claim))) as ClaimedState | null;
  }

  /** Ends a claim, or changes a request that has none. */
  async settle(claim: ClaimKey, { personId, ...old }: ClaimedState, change: DeliveryChange): Promise<void> {
    const { state, dueAt, scheduledAt, sentAt, reason, isAttempt } = change;
    const { now } = this.session;
    if (scheduledAt !== undefined) putOff(this.database, now, claim, personId);
    const set = `state = ?, due_at = ?, scheduled_at = coalesce(?, scheduled_at), sent_at = coalesce(?, sent_at),
      claimer = NULL, reason = ?, attempts = attempts + ?, first_attempt_at = coalesce(first_attempt_at, ?)`;
    const attempt = isAttempt ? [1, now] : [0, null];
    const values = [state, dueAt, scheduledAt ?? null, sentAt, reason, ...attempt];
    const known = { state: old.state, sent_at: old.sentAt };
    await updateRows(this.database, "messages", [set, ...values], thisClaim(claim), known);
    if (personId !== null) noteSettled(this.database, claim.project.id, personId, sentAt);
  }

  /** Notes that the message may be in an outbox and has to go: see `listErased`. */
  async eraseMessage(claim: ClaimKey): Promise<void> {
    noteErased(this.database, thisClaim(claim));
  }

  /** Surveys of deleted people whose messages were, or were about to be, handed over; in all projects. */
  async listErased(limit: number): Promise<readonly ErasedSurvey[]> {
    return listErased(this.database, limit);
  }

  /** None of their messages are left. */
  async forgetErased(surveys: readonly ErasedSurvey[]): Promise<void> {
    for (const { project, token } of surveys)
      this.database.send("DELETE FROM erased_surveys WHERE project_id = ? AND token = ?", [project.id, token]);
  }
}

/** An earlier request may be sent later, because of its delay. */
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
/** Messages without a reply may have arrived, so they count at their mark. */
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

/** Keeps the first mark and what it froze. */
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
  return (await updateRows(database, "messages", [set, ...values], marked, { state: "claimed" })) > 0;
}

/** `sentAt` is null unless a survey was sent to the person. */
function noteSettled(database: Database, project: number, personId: number, sentAt: number | null): void {
  const sql = `UPDATE people SET next_survey_at = ${NEXT_SURVEY_AT},
    last_sent_at = CASE WHEN last_sent_at > ? THEN last_sent_at ELSE coalesce(?, last_sent_at) END
    WHERE project_id = ? AND id = ?`;
  database.send(sql, [sentAt, sentAt, project, personId]);
}

/** Keeps a postponed message's place; a membership records that its survey moved. */
function putOff(database: Database, now: number, claim: ClaimKey, personId: number | null): void {
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
