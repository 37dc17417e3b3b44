/** Due messages with everything needed to send them. */
import type { JsonObject } from "../../../../contract/json.ts";
import type { Channel } from "../../../../contract/routes.ts";
import type { Properties } from "../../../../contract/resources.ts";
import type {
  Claim,
  DueDigest,
  DueMessage,
  DueReminder,
  DueReply,
  DueSurvey,
  FrozenMessage,
  OutgoingChannel,
  ReminderQueue,
  ReplyKind,
  SharedRoom,
} from "../queue-rows.ts";
import { type Database, numberOrNull, type SqlRow, type SqlValue, textOrNull } from "../../../sql/database.ts";

const MESSAGE = `q.project_id AS "projectId", p.name AS "projectName", q.id, q.channel, q.state, q.message_id AS "messageId",
  q.bounce_token AS "bounceToken", q.frozen, q.scheduled_at AS "scheduledAt", q.attempts,
  q.first_attempt_at AS "firstAttemptAt", q.claimer, q.claims`;

const SURVEYS = `SELECT ${MESSAGE}, q.autopilot, q.token, q.unsubscribe_token AS "unsubscribeToken", q.properties,
  q.person_id AS "personId", w.email, w.name, w.phone_number AS "phoneNumber", c.active
  FROM messages q
  JOIN projects p ON p.id = q.project_id
  JOIN people w ON w.project_id = q.project_id AND w.id = q.person_id
  JOIN autopilot_configurations c ON c.project_id = q.project_id AND c.platform = q.channel`;

const DIGESTS = `SELECT ${MESSAGE}, q.reason, d.id AS "digestId", d.email, d.allow_private AS "allowPrivate", d.token, d.weekday, d.minute, d.zone,
  d.created_at AS "createdAt", (SELECT max(m.scheduled_at) FROM messages m
    WHERE m.project_id = q.project_id AND m.digest_id = q.digest_id AND m.id < q.id) AS "previousAt"
  FROM messages q
  JOIN projects p ON p.id = q.project_id
  JOIN digests d ON d.project_id = q.project_id AND d.id = q.digest_id`;

const REPLIES = `SELECT ${MESSAGE}, q.reply_kind AS "replyKind", q.score, q.created_at AS "createdAt",
  w.phone_number AS "phoneNumber", s.token, s.properties
  FROM messages q
  JOIN projects p ON p.id = q.project_id
  JOIN messages s ON s.project_id = q.project_id AND s.id = q.request_id
  JOIN people w ON w.project_id = s.project_id AND w.id = s.person_id`;

const REMINDERS = `SELECT ${MESSAGE}, s.id AS "surveyId", s.channel AS "surveyChannel", s.autopilot AS "surveyAutopilot", s.sent_at AS "sentAt",
  s.first_attempt_at AS "surveyAttemptAt",
  s.message_id AS "surveyMessageId", s.frozen AS "surveyFrozen", s.token, s.unsubscribe_token AS "unsubscribeToken",
  s.properties, s.person_id AS "personId", w.email, w.name, w.phone_number AS "phoneNumber"
  FROM messages q
  JOIN projects p ON p.id = q.project_id
  JOIN messages s ON s.project_id = q.project_id AND s.id = q.request_id
  JOIN people w ON w.project_id = s.project_id AND w.id = s.person_id`;

const KINDS: Readonly<Record<OutgoingChannel, string>> = {
  email: SURVEYS,
  sms: SURVEYS,
  reminder: REMINDERS,
  "sms-reminder": REMINDERS,
  digest: DIGESTS,
  reply: REPLIES,
};

/** The order under a limit: single surveys and reminders before Autopilot, each by its first planned time. */
const IN_TURN = "q.autopilot, coalesce(q.planned_at, q.scheduled_at), q.id";

/** Due messages, earliest first. Under a limit, postponed and retried ones keep their place. */
export async function findDue(
  database: Database,
  now: number,
  { project, channel, limit, isInTurn = false }: Claim,
): Promise<SqlRow[]> {
  const order = isInTurn ? IN_TURN : "q.due_at, q.id";
  return database.all(
    `${KINDS[channel]} WHERE q.project_id = ? AND q.channel = ? AND q.due_at <= ? ORDER BY ${order} LIMIT ?`,
    [project, channel, now, limit],
  );
}

/** How many of a project's first `room` due messages on any of these channels belong to `channel`. */
export async function countInTurn(
  database: Database,
  now: number,
  { project, channel, channels, room }: SharedRoom,
): Promise<number> {
  const marks = channels.map(() => "?").join(", ");
  const row = await database.first(
    `SELECT count(*) AS n FROM (SELECT q.channel FROM messages q
       WHERE q.project_id = ? AND q.channel IN (${marks}) AND q.due_at <= ? ORDER BY ${IN_TURN} LIMIT ?) AS turn
     WHERE turn.channel = ?`,
    [project, ...channels, now, room, channel],
  );
  return Number(row?.n);
}

export async function findTransmitting(
  database: Database,
  where: string,
  values: readonly SqlValue[],
): Promise<DueMessage[]> {
  const found: SqlRow[] = [];
  for (const [channel, kind] of Object.entries(KINDS))
    found.push(
      ...(await database.all(`${kind} WHERE ${where} AND q.channel = ? AND q.state = 'transmitting'`, [
        ...values,
        channel,
      ])),
    );
  return found.map(toDue);
}

export function toDue(row: SqlRow): DueMessage {
  const common = {
    project: { id: Number(row.projectId), name: String(row.projectName) },
    requestId: Number(row.id),
    scheduledAt: Number(row.scheduledAt),
    attempts: Number(row.attempts),
    firstAttemptAt: numberOrNull(row.firstAttemptAt),
    frozen: toFrozen(row),
    claimer: textOrNull(row.claimer),
    claims: Number(row.claims),
  };
  if (row.channel === "reminder" || row.channel === "sms-reminder")
    return { ...common, ...toReminder(row, row.channel) };
  if (row.channel === "digest") return { ...common, ...toDigest(row) };
  if (row.channel === "reply") return { ...common, ...toReply(row) };
  return { ...common, ...toSurvey(row) };
}

type Own<Due extends DueMessage> = Omit<
  Due,
  "project" | "requestId" | "scheduledAt" | "attempts" | "firstAttemptAt" | "frozen" | "claimer" | "claims"
>;

function toSurvey(row: SqlRow): Own<DueSurvey> {
  return { channel: toChannel(row.channel), autopilot: row.autopilot === 1, ...toAsked(row) };
}

function toReminder(row: SqlRow, channel: ReminderQueue): Own<DueReminder> {
  return {
    channel,
    ...toAsked(row),
    survey: {
      requestId: Number(row.surveyId),
      channel: toChannel(row.surveyChannel),
      autopilot: row.surveyAutopilot === 1,
      sentAt: numberOrNull(row.sentAt),
      firstAttemptAt: numberOrNull(row.surveyAttemptAt),
      frozen: toFrozen({ messageId: row.surveyMessageId ?? null, frozen: row.surveyFrozen ?? null, bounceToken: null }),
    },
  };
}

function toChannel(channel: SqlValue | undefined): Channel {
  return channel === "sms" ? "sms" : "email";
}

function toAsked(row: SqlRow): Pick<DueSurvey, "token" | "unsubscribeToken" | "properties" | "person"> {
  return {
    token: String(row.token),
    unsubscribeToken: String(row.unsubscribeToken),
    properties: JSON.parse(String(row.properties)) as Properties,
    person: {
      id: Number(row.personId),
      email: textOrNull(row.email),
      name: textOrNull(row.name),
      phoneNumber: textOrNull(row.phoneNumber),
    },
  };
}

function toDigest(row: SqlRow): Own<DueDigest> {
  return {
    channel: "digest",
    digestId: Number(row.digestId),
    allowPrivate: row.allowPrivate === 1,
    email: String(row.email),
    token: String(row.token),
    weekday: Number(row.weekday),
    minute: Number(row.minute),
    zone: textOrNull(row.zone),
    createdAt: Number(row.createdAt),
    previousAt: numberOrNull(row.previousAt),
    reason: textOrNull(row.reason),
  };
}

function toReply(row: SqlRow): Own<DueReply> {
  return {
    channel: "reply",
    kind: row.replyKind as ReplyKind,
    score: numberOrNull(row.score),
    createdAt: Number(row.createdAt),
    phoneNumber: textOrNull(row.phoneNumber),
    token: String(row.token),
    properties: JSON.parse(String(row.properties)) as Properties,
  };
}

function toFrozen(row: SqlRow): FrozenMessage | null {
  if (row.frozen === null) return null;
  const values = JSON.parse(String(row.frozen)) as JsonObject;
  return { messageId: String(row.messageId), bounceToken: textOrNull(row.bounceToken), values };
}
