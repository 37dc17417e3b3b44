import { Rows } from "../../../sql/rows.ts";
import type { Channel } from "../../../../contract/routes.ts";
import type { AttemptRow, DeliveryRow, DuePage, ChannelQueue, SurveysAt, Waiting } from "../rows.ts";
import { type DeliveryState, type OutgoingChannel, WINDOW_REASON } from "../queue-rows.ts";
import type { TimeRange } from "../../inputs.ts";
import { MESSAGE_STATES } from "../../../sql/lists/counted-lists.ts";
import { type Fragment, updateRows } from "../../../sql/lists/counted-rows.ts";
import { addCondition, type Where, whereSql } from "../../../sql/lists/fragments.ts";
import { countByValue } from "../../../sql/lists/list-counts.ts";
import { readRow } from "../../../sql/columns.ts";
import { type Database, numberOrNull, type SqlRow, type SqlValue } from "../../../sql/database.ts";
import { refreshNextSurvey, WAITING_AGAIN } from "./claims.ts";
import { readPageFacts } from "./page-facts.ts";

export class DeliveryRows extends Rows {
  async listBySchedule(
    project: number,
    which: SurveysAt,
    { order, after, limit, ...range }: DuePage,
  ): Promise<readonly DeliveryRow[]> {
    const where = whereScheduled(project, which, range);
    const [than, direction] = order === "asc" ? [">", "ASC"] : ["<", "DESC"];
    if (after !== null) addCondition(where, `(q.scheduled_at, q.id) ${than} (?, ?)`, after.at, after.id);
    const sql = `SELECT ${COLUMNS} FROM messages q JOIN ${which.isReminder === true ? OF_REMINDER : OF_SURVEY} WHERE ${whereSql(where)}
      ORDER BY q.scheduled_at ${direction}, q.id ${direction} LIMIT ?`;
    return (await this.database.all(sql, [...where.values, limit])).map(toDelivery);
  }

  async countBySchedule(project: number, which: SurveysAt, range: TimeRange): Promise<number> {
    const where = whereScheduled(project, which, range);
    const person = which.isReminder === true ? `JOIN ${OF_REMINDER} ` : "";
    const sql = `SELECT count(*) AS n FROM messages q ${person}WHERE ${whereSql(where)}`;
    return Number((await this.database.first(sql, where.values))?.n);
  }

  async ofPerson(project: number, personId: number, limit: number): Promise<readonly DeliveryRow[]> {
    const sql = `${DELIVERY} WHERE q.project_id = ? AND q.person_id = ? ORDER BY q.id DESC LIMIT ?`;
    return (await this.database.all(sql, [project, personId, limit])).map(toDelivery);
  }

  async byId(project: number, id: number): Promise<DeliveryRow | null> {
    return findDelivery(this.database, project, id);
  }

  /** When the newest survey that may have arrived was transmitted, or null. Resent surveys are found in the log. */
  async lastUnknownAt(project: number, personId: number): Promise<number | null> {
    const row = await this.database.first(
      `SELECT max(CASE WHEN m.state = 'unknown' THEN m.transmitting_at ELSE
         (SELECT max(a.at) FROM delivery_attempts a
          WHERE a.project_id = m.project_id AND a.request_id = m.id AND a.outcome = 'unknown') END) AS at
       FROM messages m WHERE m.project_id = ? AND m.person_id = ?`,
      [project, personId],
    );
    return numberOrNull(row?.at);
  }

  async counts(): Promise<
    readonly { readonly project: number; readonly state: DeliveryState; readonly count: number }[]
  > {
    return (await countByValue(this.database, MESSAGE_STATES))
      .filter(
        ({ values: { channel = "", state } }) => SURVEYS.has(channel) || (REMINDERS.has(channel) && state === "held"),
      )
      .map(({ project, values: { state = null }, n }) => ({ project, state: toState(state), count: n }));
  }

  /** A project's due messages, and those postponed after their planned time. */
  async waiting(project: number): Promise<readonly Waiting[]> {
    const rows = await this.database.all(WAITING, [project, this.session.now]);
    return rows.map((row) => readRow<Waiting>(row, { flags: ["isAutopilot"] }));
  }

  /** Only an operator releases messages that were overdue at startup. Fewer than `limit` means that none are left. */
  async releaseHeld(limit: number, { isOperator }: { readonly isOperator: boolean }): Promise<number> {
    const { now } = this.session;
    let released = 0;
    for (const { id: project = null } of await this.database.all(PROJECTS)) {
      const held = await this.database.all(HELD, [project, isOperator ? null : WAS_OVERDUE, limit - released]);
      const set = `state = ${WAITING_AGAIN}, due_at = ${BY_NOW},
        scheduled_at = CASE WHEN reason = ? THEN ? ELSE scheduled_at END, reason = NULL`;
      for (const message of held) await this.#change(message, [set, now, now, WAS_OVERDUE, now]);
      released += held.length;
    }
    return released;
  }

  /**
   * Null releases the messages of both channels. Skips messages that wait more than two days. Returns fewer than
   * `limit` if none are left.
   */
  async releasePutOff(limit: number, only: Channel | null): Promise<number> {
    const { now } = this.session;
    let released = 0;
    for (const { id: project = null } of await this.database.all(PROJECTS))
      for (const channel of only === null ? ALL_QUEUES : QUEUES[only]) {
        const range = [now, now + PUT_OFF_SECONDS_MAX];
        const found = await this.database.all(PUT_OFF, [project, channel, ...range, WINDOW_REASON, limit - released]);
        const set = [`due_at = ${BY_NOW}, scheduled_at = ${BY_NOW}, reason = NULL`, now, now, now, now] as const;
        for (const message of found) await this.#change(message, set);
        released += found.length;
      }
    return released;
  }

  /** Counts pending messages, up to `limit`, that were both scheduled and due before `before`. */
  async countOverdue(
    queues: readonly ChannelQueue[],
    due: { readonly since?: number; readonly before: number },
    limit: number,
  ): Promise<number> {
    return (await this.#findOverdue(queues, due, limit)).length;
  }

  async holdOverdue(queues: readonly ChannelQueue[], before: number, limit: number): Promise<number> {
    const overdue = await this.#findOverdue(queues, { before }, limit);
    for (const message of overdue)
      await this.#change(message, ["state = 'held', due_at = NULL, reason = ?", WAS_OVERDUE]);
    return overdue.length;
  }

  /** Queries each project and channel separately to match the index, because very many surveys may be pending. */
  async #findOverdue(
    queues: readonly ChannelQueue[],
    { since = 0, before }: { readonly since?: number; readonly before: number },
    limit: number,
  ): Promise<SqlRow[]> {
    const found: SqlRow[] = [];
    for (const { project, channel } of queues) {
      const values = [project, channel, since, before, before, limit - found.length];
      found.push(...(await this.database.all(OVERDUE, values)));
    }
    return found;
  }

  /** Reminders store no person, and don't count as the person's next survey. */
  async #change({ project_id: project = null, id = null, person_id: person }: SqlRow, set: Fragment): Promise<void> {
    await updateRows(this.database, "messages", set, ["project_id = ? AND id = ?", project, id]);
    if (typeof person === "number") refreshNextSurvey(this.database, Number(project), person);
  }

  async log(project: number, requestId: number, attempt: Omit<AttemptRow, "n" | "message">): Promise<void> {
    const { at, stage, code, enhancedCode, text, host, serverId, ms, outcome } = attempt;
    const values = [at, stage, code, enhancedCode, text, host, serverId, Math.round(ms), outcome];
    this.database.send(
      `INSERT INTO delivery_attempts
       (project_id, request_id, n, at, stage, code, enhanced_code, text, remote_host, server_id, ms, outcome)
     SELECT ?, ?, coalesce(max(n), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM delivery_attempts
     WHERE project_id = ? AND request_id = ?`,
      [project, requestId, ...values, project, requestId],
    );
  }

  /** Attempts after the reminder's row was created belong to the reminder. */
  async attempts(project: number, requestId: number, limit: number): Promise<readonly AttemptRow[]> {
    const rows = await this.database.all(
      `SELECT n, at, stage, code, enhanced_code AS "enhancedCode", text, remote_host AS "host", server_id AS "serverId",
       ms, outcome, CASE WHEN stage = 'report' THEN NULL WHEN at > (SELECT min(created_at) FROM messages
         WHERE project_id = ? AND request_id = ? AND ${IS_REMINDER}) THEN 'reminder' ELSE 'survey' END AS message
       FROM delivery_attempts WHERE project_id = ? AND request_id = ? ORDER BY n DESC LIMIT ?`,
      [project, requestId, project, requestId, limit],
    );
    return (rows as unknown as AttemptRow[]).toReversed();
  }

  /** Keeps rejections that caused a bounce. Fewer than `limit`: none are left. */
  async pruneAttempts(before: number, limit: number): Promise<number> {
    const old = await this.database.all(
      "SELECT project_id, request_id, n FROM delivery_attempts WHERE outcome <> 'bounced' AND at < ? ORDER BY at LIMIT ?",
      [before, limit],
    );
    const sql = "DELETE FROM delivery_attempts WHERE project_id = ? AND request_id = ? AND n = ?";
    for (const row of old) this.database.send(sql, Object.values(row));
    return old.length;
  }
}

const QUEUES: Readonly<Record<Channel, readonly OutgoingChannel[]>> = {
  email: ["email", "reminder"],
  sms: ["sms", "sms-reminder"],
};
const ALL_QUEUES = [...QUEUES.email, ...QUEUES.sms];
const IS_REMINDER = "channel IN ('reminder', 'sms-reminder')";
const SURVEYS = new Set(["email", "sms"]);
const REMINDERS = new Set(["reminder", "sms-reminder"]);

const WAS_OVERDUE = "overdue when the service started";

const PROJECTS = "SELECT id FROM projects ORDER BY id";
const HELD = `SELECT project_id, id, person_id FROM messages
  WHERE project_id = ? AND state = 'held' AND (person_id IS NOT NULL OR ${IS_REMINDER})
    AND reason IS DISTINCT FROM coalesce(?, '') ORDER BY id LIMIT ?`;
const PUT_OFF_SECONDS_MAX = 2 * 86_400;
/** Selects by project and channel to match the index; bounds on the due time exclude most rows. */
const PUT_OFF = `SELECT project_id, id, person_id FROM messages
  WHERE project_id = ? AND channel = ? AND due_at > ? AND due_at < ?
    AND state IN ('scheduled', 'retrying') AND reason IS NOT NULL AND reason <> ? ORDER BY due_at, id LIMIT ?`;
const OVERDUE = `SELECT project_id, id, person_id FROM messages
  WHERE project_id = ? AND channel = ? AND due_at > ? AND due_at < ?
    AND scheduled_at < ? AND state IN ('scheduled', 'retrying') ORDER BY due_at, id LIMIT ?`;
/** Keeps the message's place in the queue. */
const BY_NOW = "CASE WHEN scheduled_at < ? THEN scheduled_at ELSE ? END";

/** Includes postponed messages, which are due later than planned. */
const WAITING = `SELECT channel, autopilot AS "isAutopilot", count(*) AS count, min(due_at) AS "dueAt" FROM messages
  WHERE project_id = ? AND channel IN ('email', 'sms', 'reminder', 'sms-reminder') AND due_at IS NOT NULL
    AND claimer IS NULL AND coalesce(planned_at, due_at) <= ? GROUP BY channel, autopilot ORDER BY channel, autopilot`;

const COLUMNS = `q.project_id AS "project.id", q.id AS "requestId", w.id AS "personId", q.channel, w.email,
  w.phone_number AS "phoneNumber", q.autopilot, q.state, q.reason, q.created_at AS "createdAt",
  CASE WHEN q.state IN ('scheduled', 'retrying') THEN q.due_at ELSE q.scheduled_at END AS "dueAt",
  q.scheduled_at AS "scheduledAt", coalesce(q.planned_at, q.scheduled_at) AS "plannedAt",
  q.sent_at AS "sentAt", q.transmitting_at AS "transmittingAt", q.attempts, q.message_id AS "messageId", q.claimer, q.claims,
  q.page_facts AS "pageFacts"`;

const OF_SURVEY = "people w ON w.project_id = q.project_id AND w.id = q.person_id";
/** A reminder's person is found through its survey. */
const OF_REMINDER = `messages s ON s.project_id = q.project_id AND s.id = q.request_id
  JOIN people w ON w.project_id = s.project_id AND w.id = s.person_id`;

const DELIVERY = `SELECT ${COLUMNS} FROM messages q JOIN ${OF_SURVEY}`;

export async function findDelivery(database: Database, project: number, id: number): Promise<DeliveryRow | null> {
  const row = await database.first(`${DELIVERY} WHERE q.project_id = ? AND q.id = ?`, [project, id]);
  return row === null ? null : toDelivery(row);
}

/** Matches the indexes `messages_by_schedule` and `messages_by_hold`. */
function whereScheduled(project: number, which: SurveysAt, { since, until }: TimeRange): Where {
  const { state, reason, dueBy, isReminder = false, personId = null } = which;
  const kind = isReminder ? ["q.person_id IS NULL", `q.${IS_REMINDER}`] : ["q.person_id IS NOT NULL"];
  const where: Where = {
    clauses: ["q.project_id = ?", ...kind, "q.scheduled_at >= ?", "q.scheduled_at <= ?"],
    values: [project, since ?? 0, until ?? Number.MAX_SAFE_INTEGER],
  };
  if (personId !== null) addCondition(where, `${isReminder ? "s" : "q"}.person_id = ?`, personId);
  // The cast makes the engine go through the person's few surveys instead of all with this state.
  addCondition(where, personId === null || isReminder ? "q.state = ?" : "CAST(q.state AS TEXT) = ?", state);
  if (reason !== undefined) addCondition(where, "q.reason = ?", reason);
  if (dueBy !== undefined) addCondition(where, "q.due_at <= ?", dueBy);
  return where;
}

function toDelivery(row: SqlRow): DeliveryRow {
  const isAutopilotPaused = row.state === "paused";
  return {
    ...readRow<DeliveryRow>(row, { flags: ["autopilot"] }),
    channel: row.channel === "sms" || row.channel === "sms-reminder" ? "sms" : "email",
    state: toState(row.state),
    isAutopilotPaused,
    ...(isAutopilotPaused && { reason: "Autopilot is inactive" }),
    pageFacts: readPageFacts(row.pageFacts),
  };
}

function toState(value: SqlValue | undefined): DeliveryState {
  return value === "paused" ? "scheduled" : (value as DeliveryState);
}
