import { Rows } from "../../../sql/rows.ts";
import type { Channel } from "../../../../contract/routes.ts";
import type { AttemptRow, DeliveryRow, DuePage, ChannelQueue, RemindersAt, SurveysAt, Waiting } from "../rows.ts";
import { type DeliveryState, type OutgoingChannel, WINDOW_REASON } from "../queue-rows.ts";
import type { TimeRange } from "../../inputs.ts";
import { MESSAGE_STATES } from "../../../sql/lists/counted-lists.ts";
import { updateRows } from "../../../sql/lists/counted-rows.ts";
import { addCondition, type Where, whereSql } from "../../../sql/lists/fragments.ts";
import { countByValue } from "../../../sql/lists/list-counts.ts";
import { type Database, numberOrNull, textOrNull, type SqlRow, type SqlValue } from "../../../sql/database.ts";
import { refreshNextSurvey, WAITING_AGAIN } from "./claims.ts";
import { readPageFacts } from "./page-facts.ts";
import { listWaiting } from "./waiting-rows.ts";

/** What operators and senders need to know about requests. */
export class DeliveryRows extends Rows {
  async listBySchedule(
    project: number,
    which: SurveysAt | RemindersAt,
    page: DuePage,
  ): Promise<readonly DeliveryRow[]> {
    return listBySchedule(this.database, project, which, page);
  }

  async countBySchedule(
    project: number,
    which: SurveysAt | { readonly remindersOf: null },
    range: TimeRange,
  ): Promise<number> {
    return countBySchedule(this.database, project, which, range);
  }

  async ofPerson(project: number, personId: number, limit: number): Promise<readonly DeliveryRow[]> {
    return (
      await this.database.all(`${DELIVERY} WHERE q.project_id = ? AND q.person_id = ? ORDER BY q.id DESC LIMIT ?`, [
        project,
        personId,
        limit,
      ])
    ).map(toDelivery);
  }

  async byId(project: number, id: number): Promise<DeliveryRow | null> {
    return findDelivery(this.database, project, id);
  }

  /** When a survey to the person that may have arrived was last transmitted, even if it was resent, or null. */
  async lastUnknownAt(project: number, personId: number): Promise<number | null> {
    return lastUnknownAt(this.database, project, personId);
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

  /** A project's due messages, and those postponed beyond their planned time. */
  async waiting(project: number): Promise<readonly Waiting[]> {
    return listWaiting(this.database, this.session.now, project);
  }

  /**
   * Makes held surveys and reminders due now, oldest first. Those held as overdue count as scheduled now, or stay as
   * they are. Returns the number; less than the limit means all.
   */
  async releaseHeld(
    limit: number,
    overdue: { readonly reason: string; readonly areReleased: boolean },
  ): Promise<number> {
    return releaseHeld(this.database, this.session.now, { ...overdue, limit });
  }

  /**
   * Makes postponed surveys and reminders of a channel (null for both) due again, each at its own time, unless they
   * wait for more than two days. Returns the number; less than the limit means all.
   */
  async releasePutOff(limit: number, channel: Channel | null): Promise<number> {
    return releasePutOff(this.database, this.session.now, { limit, channel });
  }

  /** How many pending messages of these queues were scheduled and due before `before`; counts up to `limit`. */
  async countOverdue(
    queues: readonly ChannelQueue[],
    due: { readonly since?: number; readonly before: number },
    limit: number,
  ): Promise<number> {
    return (await findOverdue(this.database, queues, due, limit)).length;
  }

  async holdOverdue(
    queues: readonly ChannelQueue[],
    before: number,
    { reason, limit }: { readonly reason: string; readonly limit: number },
  ): Promise<number> {
    return holdOverdue(this.database, await findOverdue(this.database, queues, { before }, limit), reason);
  }

  async log(project: number, requestId: number, attempt: Omit<AttemptRow, "n">): Promise<void> {
    const { at, stage, code, enhancedCode, text, host, serverId, ms, outcome } = attempt;
    this.database.send(
      `INSERT INTO delivery_attempts
       (project_id, request_id, n, at, stage, code, enhanced_code, text, remote_host, server_id, ms, outcome)
     SELECT ?, ?, coalesce(max(n), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM delivery_attempts
     WHERE project_id = ? AND request_id = ?`,
      [
        project,
        requestId,
        at,
        stage,
        code,
        enhancedCode,
        text,
        host,
        serverId,
        Math.round(ms),
        outcome,
        project,
        requestId,
      ],
    );
  }

  async attempts(project: number, requestId: number, limit: number): Promise<readonly AttemptRow[]> {
    const rows = await this.database.all(
      `SELECT n, at, stage, code, enhanced_code AS "enhancedCode", text, remote_host AS "host", server_id AS "serverId",
       ms, outcome FROM delivery_attempts WHERE project_id = ? AND request_id = ? ORDER BY n DESC LIMIT ?`,
      [project, requestId, limit],
    );
    return (rows as unknown as AttemptRow[]).toReversed();
  }

  /**
   * Deletes rows before `before`, except rejections that made someone bounce. Returns the number; less than the limit
   * means all.
   */
  async pruneAttempts(before: number, limit: number): Promise<number> {
    return this.database.run(
      `DELETE FROM delivery_attempts WHERE (project_id, request_id, n) IN (SELECT project_id, request_id, n
         FROM delivery_attempts WHERE outcome <> 'bounced' AND at < ? ORDER BY at LIMIT ?)`,
      [before, limit],
    );
  }
}

/** A resent survey has another state, but its log still has the attempt. */
async function lastUnknownAt(database: Database, project: number, personId: number): Promise<number | null> {
  const row = await database.first(
    `SELECT max(CASE WHEN m.state = 'unknown' THEN m.transmitting_at ELSE
       (SELECT max(a.at) FROM delivery_attempts a
        WHERE a.project_id = m.project_id AND a.request_id = m.id AND a.outcome = 'unknown') END) AS at
     FROM messages m WHERE m.project_id = ? AND m.person_id = ?`,
    [project, personId],
  );
  return numberOrNull(row?.at);
}

const IS_REMINDER = "channel IN ('reminder', 'sms-reminder')";
const SURVEYS = new Set(["email", "sms"]);
const REMINDERS = new Set(["reminder", "sms-reminder"]);

const COLUMNS = `q.project_id AS "projectId", q.id, w.id AS "personId", q.channel, w.email,
  w.phone_number AS "phoneNumber", q.autopilot, q.state, q.reason, q.created_at AS "createdAt",
  CASE WHEN q.state IN ('scheduled', 'retrying') THEN q.due_at ELSE q.scheduled_at END AS "dueAt",
  q.scheduled_at AS "scheduledAt",
  q.sent_at AS "sentAt", q.transmitting_at AS "transmittingAt", q.attempts, q.message_id AS "messageId", q.claimer, q.claims,
  q.page_facts AS "pageFacts"`;

const OF_SURVEY = "people w ON w.project_id = q.project_id AND w.id = q.person_id";
/** A reminder's person is that of its survey. */
const OF_REMINDER = `messages s ON s.project_id = q.project_id AND s.id = q.request_id
  JOIN people w ON w.project_id = s.project_id AND w.id = s.person_id`;

const DELIVERY = `SELECT ${COLUMNS} FROM messages q JOIN ${OF_SURVEY}`;

export async function findDelivery(database: Database, project: number, id: number): Promise<DeliveryRow | null> {
  const row = await database.first(`${DELIVERY} WHERE q.project_id = ? AND q.id = ?`, [project, id]);
  return row === null ? null : toDelivery(row);
}

/** Matches the indexes `messages_by_schedule` and `messages_by_hold`. */
function whereScheduled(project: number, which: SurveysAt | RemindersAt, { since, until }: TimeRange): Where {
  const isReminder = "remindersOf" in which;
  const kind = isReminder
    ? ["q.state = 'held'", "q.person_id IS NULL", `q.${IS_REMINDER}`]
    : ["q.person_id IS NOT NULL"];
  const where: Where = {
    clauses: ["q.project_id = ?", ...kind, "q.scheduled_at >= ?", "q.scheduled_at <= ?"],
    values: [project, since ?? 0, until ?? Number.MAX_SAFE_INTEGER],
  };
  if (isReminder) {
    if (which.remindersOf !== null) addCondition(where, "s.person_id = ?", which.remindersOf);
    return where;
  }
  const { state, reason, dueBy } = which;
  addCondition(where, "q.state = ?", state);
  if (reason !== undefined) addCondition(where, "q.reason = ?", reason);
  if (dueBy !== undefined) addCondition(where, "q.due_at <= ?", dueBy);
  return where;
}

async function listBySchedule(
  database: Database,
  project: number,
  which: SurveysAt | RemindersAt,
  { order, after, limit, ...range }: DuePage,
): Promise<DeliveryRow[]> {
  const where = whereScheduled(project, which, range);
  const [than, direction] = order === "asc" ? [">", "ASC"] : ["<", "DESC"];
  const beyond = after === null ? "" : ` AND (q.scheduled_at, q.id) ${than} (?, ?)`;
  const person = "remindersOf" in which ? OF_REMINDER : OF_SURVEY;
  const sql = `SELECT ${COLUMNS} FROM messages q JOIN ${person} WHERE ${whereSql(where)}${beyond}
    ORDER BY q.scheduled_at ${direction}, q.id ${direction} LIMIT ?`;
  const place = after === null ? [] : [after.at, after.id];
  return (await database.all(sql, [...where.values, ...place, limit])).map(toDelivery);
}

async function countBySchedule(
  database: Database,
  project: number,
  which: SurveysAt | RemindersAt,
  range: TimeRange,
): Promise<number> {
  const where = whereScheduled(project, which, range);
  const row = await database.first(`SELECT count(*) AS n FROM messages q WHERE ${whereSql(where)}`, where.values);
  return Number(row?.n);
}

function toDelivery(row: SqlRow): DeliveryRow {
  const isPaused = row.state === "paused";
  return {
    project: { id: Number(row.projectId) },
    requestId: Number(row.id),
    personId: Number(row.personId),
    channel: row.channel === "sms" || row.channel === "sms-reminder" ? "sms" : "email",
    email: textOrNull(row.email),
    phoneNumber: textOrNull(row.phoneNumber),
    autopilot: row.autopilot === 1,
    state: toState(row.state),
    reason: isPaused ? "Autopilot is inactive" : textOrNull(row.reason),
    createdAt: Number(row.createdAt),
    dueAt: Number(row.dueAt),
    scheduledAt: Number(row.scheduledAt),
    isAutopilotPaused: isPaused,
    sentAt: numberOrNull(row.sentAt),
    transmittingAt: numberOrNull(row.transmittingAt),
    attempts: Number(row.attempts),
    messageId: textOrNull(row.messageId),
    claimer: textOrNull(row.claimer),
    claims: Number(row.claims),
    pageFacts: readPageFacts(row.pageFacts),
  };
}

function toState(value: SqlValue | undefined): DeliveryState {
  return value === "paused" ? "scheduled" : (value as DeliveryState);
}

interface Release {
  readonly limit: number;
  readonly reason: string;
  readonly areReleased: boolean;
}

/** Keeps its place in the queue. */
const BY_NOW = "CASE WHEN scheduled_at < ? THEN scheduled_at ELSE ? END";

async function releaseHeld(database: Database, now: number, { limit, reason, areReleased }: Release): Promise<number> {
  const kept = areReleased ? null : reason;
  let released = 0;
  for (const { id } of await database.all("SELECT id FROM projects ORDER BY id")) {
    const held = await database.all(
      `SELECT id, person_id FROM messages WHERE project_id = ? AND state = 'held' AND (person_id IS NOT NULL OR ${IS_REMINDER})
         AND reason IS DISTINCT FROM coalesce(?, '')
       ORDER BY id LIMIT ?`,
      [id ?? null, kept, limit - released],
    );
    const set = `state = ${WAITING_AGAIN}, due_at = ${BY_NOW},
      scheduled_at = CASE WHEN reason = ? THEN ? ELSE scheduled_at END, reason = NULL`;
    for (const row of held) {
      const message = ["project_id = ? AND id = ?", id ?? null, row.id ?? null] as const;
      await updateRows(database, "messages", [set, now, now, reason, now], message);
      refreshPerson(database, id, row.person_id);
    }
    released += held.length;
  }
  return released;
}

const PUT_OFF_SECONDS_MAX = 2 * 86_400;

/** By project and channel, as in the index; bounds on the due time exclude the rest. */
async function releasePutOff(
  database: Database,
  now: number,
  { limit, channel: only }: { readonly limit: number; readonly channel: Channel | null },
): Promise<number> {
  let released = 0;
  for (const { id } of await database.all("SELECT id FROM projects ORDER BY id"))
    for (const channel of only === null ? ALL_QUEUES : QUEUES[only]) {
      const found = await database.all(
        `SELECT id, person_id FROM messages WHERE project_id = ? AND channel = ? AND due_at > ? AND due_at < ?
         AND state IN ('scheduled', 'retrying') AND reason IS NOT NULL AND reason <> ? ORDER BY due_at, id LIMIT ?`,
        [id ?? null, channel, now, now + PUT_OFF_SECONDS_MAX, WINDOW_REASON, limit - released],
      );
      for (const row of found) {
        database.send(
          `UPDATE messages SET due_at = ${BY_NOW}, scheduled_at = ${BY_NOW}, reason = NULL
           WHERE project_id = ? AND id = ?`,
          [now, now, now, now, id ?? null, row.id ?? null],
        );
        refreshPerson(database, id, row.person_id);
      }
      released += found.length;
    }
  return released;
}

const QUEUES: Readonly<Record<Channel, readonly OutgoingChannel[]>> = {
  email: ["email", "reminder"],
  sms: ["sms", "sms-reminder"],
};
const ALL_QUEUES = [...QUEUES.email, ...QUEUES.sms];

/** Reminders have no person of their own, and aren't a next survey. */
function refreshPerson(database: Database, project: SqlValue | undefined, person: SqlValue | undefined): void {
  if (person !== null && person !== undefined) refreshNextSurvey(database, Number(project), Number(person));
}

/** By project and channel, as in the index, because very many may be pending. */
async function findOverdue(
  database: Database,
  queues: readonly ChannelQueue[],
  { since = 0, before }: { readonly since?: number; readonly before: number },
  limit: number,
): Promise<SqlRow[]> {
  const found: SqlRow[] = [];
  for (const { project, channel } of queues)
    found.push(
      ...(await database.all(
        `SELECT project_id, id, person_id FROM messages WHERE project_id = ? AND channel = ? AND due_at > ? AND due_at < ?
         AND scheduled_at < ? AND state IN ('scheduled', 'retrying') ORDER BY due_at, id LIMIT ?`,
        [project, channel, since, before, before, limit - found.length],
      )),
    );
  return found;
}

async function holdOverdue(database: Database, overdue: readonly SqlRow[], reason: string): Promise<number> {
  for (const { project_id: project, id, person_id: person } of overdue) {
    const message = ["project_id = ? AND id = ?", project ?? null, id ?? null] as const;
    await updateRows(database, "messages", ["state = 'held', due_at = NULL, reason = ?", reason], message);
    refreshPerson(database, project, person);
  }
  return overdue.length;
}
