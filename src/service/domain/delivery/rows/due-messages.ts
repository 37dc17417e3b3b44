import { readRow } from "../../../sql/columns.ts";
import type { SqlRow } from "../../../sql/database.ts";
import type { DueMessage, OutgoingChannel } from "../queue-rows.ts";

const MESSAGE = `q.project_id AS "project.id", p.name AS "project.name", q.id AS "requestId", q.channel, q.state,
  q.message_id AS "frozen.messageId", q.bounce_token AS "frozen.bounceToken", q.frozen AS "frozen.values",
  q.scheduled_at AS "scheduledAt", q.attempts, q.first_attempt_at AS "firstAttemptAt", q.claimer, q.claims`;

const PERSON = `w.id AS "person.id", w.email AS "person.email", w.name AS "person.name", w.phone_number AS "person.phoneNumber"`;

const SURVEYS = `SELECT ${MESSAGE}, q.autopilot, q.token, q.unsubscribe_token AS "unsubscribeToken", q.properties,
  ${PERSON}, c.active
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

const REPLIES = `SELECT ${MESSAGE}, q.reply_kind AS kind, q.score, q.created_at AS "createdAt",
  w.phone_number AS "phoneNumber", s.token, s.properties
  FROM messages q
  JOIN projects p ON p.id = q.project_id
  JOIN messages s ON s.project_id = q.project_id AND s.id = q.request_id
  JOIN people w ON w.project_id = s.project_id AND w.id = s.person_id`;

const REMINDERS = `SELECT ${MESSAGE}, s.id AS "survey.requestId", s.channel AS "survey.channel",
  s.autopilot AS "survey.autopilot", s.sent_at AS "survey.sentAt", s.first_attempt_at AS "survey.firstAttemptAt",
  s.message_id AS "survey.frozen.messageId", NULL AS "survey.frozen.bounceToken", s.frozen AS "survey.frozen.values",
  s.token, s.unsubscribe_token AS "unsubscribeToken", s.properties, ${PERSON}
  FROM messages q
  JOIN projects p ON p.id = q.project_id
  JOIN messages s ON s.project_id = q.project_id AND s.id = q.request_id
  JOIN people w ON w.project_id = s.project_id AND w.id = s.person_id`;

/** Selects the due messages `q` of a channel. */
export const KINDS: Readonly<Record<OutgoingChannel, string>> = {
  email: SURVEYS,
  sms: SURVEYS,
  reminder: REMINDERS,
  "sms-reminder": REMINDERS,
  digest: DIGESTS,
  reply: REPLIES,
};

/** The order when there is a limit: Autopilot's surveys last, each message by its first planned time. */
export const IN_TURN = "q.autopilot, coalesce(q.planned_at, q.scheduled_at), q.id";

export function toDue(row: SqlRow): DueMessage {
  const { state: _, active: __, ...message } = row;
  const due = readRow<DueMessage>(message, {
    json: ["properties", "frozen.values", "survey.frozen.values"],
    flags: ["autopilot", "survey.autopilot", "allowPrivate"],
  });
  const frozen = row["frozen.values"] === null ? null : due.frozen;
  if (!("survey" in due)) return { ...due, frozen };
  const survey = { ...due.survey, frozen: row["survey.frozen.values"] === null ? null : due.survey.frozen };
  return { ...due, frozen, survey };
}
