import { OF_DIGEST, OF_PERSON, OF_PROJECT, OF_REQUEST, type Table } from "../table.ts";

/**
 * Surveys and their reminders, weekly digests, and replies to text messages. They are claimed per project and channel,
 * so that a slow one doesn't delay others. `claims` counts claims, which makes older ones invalid. `due_at` is when a
 * message can be claimed or when its claim ends; it is null while transmitting, so that nothing is sent twice. Sending
 * windows and limits postpone `scheduled_at`, from which a message's age counts; `planned_at` keeps its place in the
 * queue. `transmitting_at` is set just before the message can have been sent: in SMTP, before the final dot.
 * `answered_at` is kept if the answer is deleted. `frozen` has the values chosen by the first attempt, which later ones
 * reuse. A digest's `scheduled_at` identifies its week.
 */
const MESSAGES: Table = {
  name: "messages",
  columns: `project_id int, id int, channel text, person_id int?, request_id int?, digest_id int?, autopilot int = 0,
    state text, created_at int, scheduled_at int, planned_at int?, due_at int?, claimer text?, attempts int = 0, sent_at int?, answered_at int?,
    properties text = '{}', token text?, claims int = 0, first_attempt_at int?, transmitting_at int?,
    reason text?, message_id text?, frozen text?, unsubscribe_token text?, bounce_token text?,
    page_facts text?, reply_kind text?, score int?`,
  key: "project_id, id",
  references: [OF_PERSON, OF_REQUEST, OF_DIGEST],
  storage: "autovacuum_vacuum_scale_factor = 0.02",
  indexes: {
    messages_by_person: "(project_id, person_id)",
    messages_by_sent: "(project_id, channel, sent_at, id, answered_at) WHERE sent_at IS NOT NULL",
    messages_by_due: "(project_id, channel, due_at, id) WHERE due_at IS NOT NULL",
    messages_by_claimer: "(claimer, project_id, id) WHERE claimer IS NOT NULL",
    messages_by_state: "(project_id, state, id)",
    messages_by_schedule: "(project_id, state, scheduled_at, id) WHERE person_id IS NOT NULL",
    messages_by_hold: "(project_id, scheduled_at, id) WHERE state = 'held' AND person_id IS NULL",
    messages_by_message_id: "(message_id) WHERE message_id IS NOT NULL",
    messages_by_request: "(project_id, request_id) WHERE request_id IS NOT NULL",
    messages_by_digest: "(project_id, digest_id, id) WHERE digest_id IS NOT NULL",
    messages_by_creation: "(created_at) WHERE person_id IS NULL",
    messages_by_token: "(token)",
    messages_by_unsubscribe_token: "(unsubscribe_token)",
    messages_by_bounce_token: "(bounce_token) WHERE bounce_token IS NOT NULL",
  },
};

/** `n` numbers a message's attempts from 1. Rejections that caused a bounce are kept as long as the message. */
const ATTEMPTS: Table = {
  name: "delivery_attempts",
  isClustered: true,
  columns: `project_id int, request_id int, n int, at int, stage text, code int?, enhanced_code text?,
    text text?, remote_host text?, server_id text?, ms int, outcome text`,
  key: "project_id, request_id, n",
  references: [OF_REQUEST],
  indexes: {
    delivery_attempts_by_time: "(at) WHERE outcome <> 'bounced'",
    delivery_attempts_by_soft: "(project_id, request_id) WHERE outcome = 'soft'",
  },
};

/** Reports about surveys, kept so that none is recorded twice. They contain no addresses. */
const REPORTS: Table = {
  name: "delivery_reports",
  isClustered: true,
  columns: `source text, id text, at int`,
  key: "source, id",
  indexes: { delivery_reports_by_time: "(at)" },
};

/** State that all processes share, as JSON: pauses, the state of each sender, limits and how much of them is used. */
const STATE: Table = { name: "delivery_state", columns: `name text, value text`, key: "name" };

const TEXTS: readonly Table[] = [
  {
    name: "text_parts",
    isClustered: true,
    columns: `phone_number text, reference text, n int, total int, text text, at int`,
    key: "phone_number, reference, n",
    indexes: { text_parts_by_time: "(at)" },
  },
  {
    name: "text_segments",
    isClustered: true,
    columns: `project_id int, day text, n int`,
    key: "project_id, day",
    references: [OF_PROJECT],
  },
];

export const DELIVERY_TABLES: readonly Table[] = [MESSAGES, ATTEMPTS, REPORTS, STATE, ...TEXTS];
