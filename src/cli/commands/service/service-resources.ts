/** The columns of what the `service` commands show, each table as its command prints it. */
import { DELIVERY_STATES } from "../../../service/domain/delivery/queue-rows.ts";
import { LISTED_STATES } from "../../../service/domain/delivery/lists/listed.ts";
import { REPORT_OUTCOMES } from "../../../service/domain/delivery/rows.ts";
import type { QuestionInfo } from "../../../service/admin/question/commands.ts";
import type { ConfiguredSettings } from "../../../service/domain/projects/settings.ts";
import type { ProjectTexts } from "../../../service/domain/projects/texts.ts";
import { type Column, type ColumnKind, pathColumn, type Resource } from "../../render/columns.ts";

export function toResource(
  noun: string,
  columns: Readonly<Record<string, ColumnKind>>,
  dropFirst: readonly string[] = [],
): Resource {
  const names = Object.keys(columns);
  return { noun, columns: names.map((name) => pathColumn(name, columns[name])), table: names, dropFirst, fields: [] };
}

export const PROJECTS = toResource(
  "projects",
  { id: "id", name: "text", people: "number", responses: "number", throttle: "duration", created_at: "time" },
  ["created_at", "throttle"],
);
export const NEW_PROJECT = toResource("projects", { id: "id", name: "text", key: "text" });
export const KEYS = toResource("keys", {
  id: "id",
  name: "text",
  access: "text",
  last_four: "text",
  created_at: "time",
  last_used_on: "text",
  expires_at: "time",
});
export const NEW_KEY = toResource("keys", { id: "id", name: "text", key: "text" });
export const ROTATED_KEY = toResource("keys", {
  id: "id",
  name: "text",
  key: "text",
  previous: "text",
  previous_until: "time",
});
export const PLATFORM_SETTINGS = toResource("autopilot settings", {
  platform: "text",
  active: "flag",
  frequency: "duration",
  first: "text",
  days: "text",
  hours: "text",
  tz: "text",
});
export const REHEARSED_PERIODS = toResource("periods", {
  period: "text",
  surveys: "number",
  reminders: "number",
  held_throttled: "number",
  held_unsubscribed: "number",
  held_bounced: "number",
  held_limit: "number",
});
export const REHEARSED_MESSAGES = toResource("surveys", {
  person_id: "id",
  email: "text",
  phone_number: "phone",
  kind: "text",
  channel: "text",
  platform: "text",
  sent_at: "time",
});
export const REMINDER = toResource("settings", { after_seconds: "number", channel: "text" });
export const THROTTLE = toResource("settings", { throttle: "duration" });
const SETTING_COLUMNS: Readonly<Record<keyof ConfiguredSettings, ColumnKind>> = {
  sender_name: "text",
  from: "text",
  reply_to: "text",
  footer: "text",
  tz: "text",
  soft_bounces: "number",
  daily_limit: "number",
};
export const SETTINGS = toResource("settings", SETTING_COLUMNS);
export const SETTING_CHANGES = toResource("settings", { change: "text", key: "text", from: "text", to: "text" });
export const PREVIEW = toResource("surveys", { from: "text", to: "text", subject: "text", text: "text", html: "text" });
export const LINKS = toResource(
  "links",
  { id: "id", name: "text", url: "text", properties: "text", created_at: "time" },
  ["created_at", "properties"],
);
const QUESTION_COLUMNS: Readonly<Record<keyof QuestionInfo, ColumnKind>> = {
  id: "id",
  type: "text",
  text: "text",
  choices: "text",
  scale: "text",
  to: "text",
  position: "number",
  retired_at: "time",
};
export const QUESTIONS = toResource("questions", QUESTION_COLUMNS, ["retired_at", "scale", "choices", "type"]);
export const SHOWN_QUESTION = toResource("questions", { ...QUESTION_COLUMNS, texts: "text" });
export const BRAND = toResource("settings", { name: "text", color: "text", text_color: "text", logo_url: "text" });
const TEXT_COLUMNS: Readonly<Record<keyof ProjectTexts, ColumnKind>> = {
  locale: "text",
  score: "text",
  product_name: "text",
  subject: "text",
  intro: "text",
  thank_you: "text",
  thank_you_link: "text",
  thank_you_link_text: "text",
  comment_question: "text",
};
export const TEXTS = toResource("texts", TEXT_COLUMNS);
export const SIGNED_LINK = toResource("responses", { url: "text" });
export const DELIVERIES = toResource(
  "surveys",
  {
    id: "id",
    channel: "text",
    email: "text",
    phone_number: "phone",
    state: "status",
    reason: "text",
    due_at: "time",
    sent_at: "time",
    attempts: "number",
  },
  ["phone_number", "channel", "attempts", "sent_at"],
);
/** Surveys by day; `surveys` leaves out what was not scheduled. */
export const DELIVERY_DAYS = toResource(
  "days",
  {
    day: "text",
    surveys: "number",
    ...Object.fromEntries(LISTED_STATES.map((state) => [state, "number"] as const)),
  },
  ["claimed", "transmitting", "retrying", "held", "unknown", "failed", "cancelled", "bounced"],
);
export const DELIVERY_HISTORY = toResource("people", {
  id: "id",
  email: "text",
  phone_number: "phone",
  explanation: "text",
  unsubscribed_at: "time",
  bounced_at: "time",
  sms_unsubscribed_at: "time",
  last_sent_at: "time",
  next_survey_scheduled_at: "time",
  surveys: "text",
  not_scheduled: "text",
});
/** Surveys that were asked for and not scheduled. */
export const NOT_SCHEDULED = toResource(
  "surveys",
  { at: "time", channel: "text", reason: "text", since: "time", until: "time" },
  ["channel"],
);
/** A history as rows: each survey, and below it each of its attempts. */
export const DELIVERY_LOG = toResource(
  "attempts",
  {
    survey: "id",
    channel: "text",
    state: "status",
    page: "text",
    attempt: "number",
    at: "time",
    outcome: "text",
    stage: "text",
    code: "number",
    enhanced_code: "text",
    text: "text",
    remote_host: "text",
    server_id: "text",
  },
  ["server_id", "channel", "remote_host", "stage"],
);
export const DELIVERY_STATUS = toResource("settings", {
  ...Object.fromEntries(DELIVERY_STATES.map((state) => [state, "number"] as const)),
  oldest_due_at: "time",
  paused_at: "time",
  paused_projects: "text",
  projects: "text",
  senders: "text",
});
export const BUDGETS = toResource(
  "projects",
  { project: "text", daily_limit: "number", sent_today: "number", waiting: "number", waiting_until: "time" },
  ["daily_limit"],
);
const LAST_WORDS = "last_words";

/** The server's last words with their stage and codes: `auth 535 5.7.8 Authentication failed`. */
const lastWords: Column = {
  name: LAST_WORDS,
  kind: "text",
  read: ({ stage, code, enhanced_code: enhancedCode, reason }) =>
    [stage, code, enhancedCode, reason]
      .filter((part) => typeof part === "string" || typeof part === "number")
      .join(" "),
};
const SENDER = toResource(
  "senders",
  { name: "text", process: "text", state: "status", since: "time", next_probe_at: "time" },
  ["since", "next_probe_at", "process"],
);
export const SENDERS: Resource = {
  ...SENDER,
  columns: [...SENDER.columns, lastWords],
  table: [...SENDER.table, LAST_WORDS],
  flexible: LAST_WORDS,
};
export const WEBHOOKS = toResource(
  "webhooks",
  {
    id: "id",
    url: "text",
    state: "status",
    reason: "text",
    events: "text",
    scores: "text",
    format: "text",
    signature_header: "text",
    waiting: "number",
    failed: "number",
    missed: "number",
    created_at: "time",
    last_delivered_at: "time",
    failing_since: "time",
    disabled_at: "time",
  },
  ["signature_header", "format", "created_at", "failing_since", "disabled_at", "scores", "missed", "events"],
);
export const WEBHOOK_SECRET = toResource("webhooks", {
  id: "id",
  url: "text",
  secret: "text",
  previous_until: "time",
});
export const WEBHOOK_TEST = toResource("events", {
  id: "id",
  event_id: "text",
  delivered: "text",
  status: "number",
  ms: "number",
  text: "text",
});
export const WEBHOOK_DELIVERIES = toResource(
  "events",
  {
    event_id: "text",
    event_type: "text",
    state: "status",
    attempts: "number",
    created_at: "time",
    due_at: "time",
    attempted_at: "time",
    status: "number",
    ms: "number",
    text: "text",
    log: "text",
  },
  ["log", "ms", "attempted_at", "due_at"],
);
export const WEBHOOK_REMOVED = toResource("webhooks", { id: "id", dropped: "number" });
export const REDELIVERED = toResource("webhooks", { id: "id", redelivered: "number" });
export const RELEASED = toResource("surveys", { released: "number" });
export const FINDINGS = toResource("checks", { check: "text", result: "status", detail: "text", rule: "text" }, [
  "rule",
]);
export const TEST_MAIL = toResource("mails", {
  outcome: "status",
  to: "text",
  subject: "text",
  message_id: "text",
  stage: "text",
  code: "number",
  enhanced_code: "text",
  text: "text",
  host: "text",
  server_id: "text",
  ms: "number",
});
export const BACKUP = toResource("files", {
  file: "text",
  bytes: "number",
  rows: "number",
  projects: "number",
  people: "number",
  responses: "number",
  surveys: "number",
  schema: "number",
  sha256: "text",
});
export const RESTORED = toResource("files", {
  data: "text",
  rows: "number",
  projects: "number",
  people: "number",
  responses: "number",
  surveys: "number",
  paused_at: "time",
});
export const MOVED_TABLES = toResource(
  "tables",
  { table: "text", rows: "number", least_id: "number", most_id: "number", digest: "text" },
  ["digest"],
);
export const CLOCK = toResource("clock", { clock: "time", newest_write: "time", behind: "duration" });
export const VACUUMED = toResource("files", { bytes_before: "number", bytes: "number" });
export const PAUSE = toResource("settings", { project: "text", paused_at: "time" });
/** The results of messages that came back. */
export const RECEIVED = toResource("messages", {
  received: "number",
  ...Object.fromEntries(REPORT_OUTCOMES.map((outcome) => [outcome, "number"] as const)),
  unreadable: "number",
});
export const CLEARED = toResource("bounces", {
  email: "text",
  bounced_at: "time",
  reported_at: "time",
  stage: "text",
  code: "number",
  enhanced_code: "text",
  text: "text",
});
export const SOFT_BOUNCES = toResource(
  "people",
  { id: "id", email: "text", soft_bounces: "number", last_at: "time", text: "text" },
  ["id"],
);
export const HOOKS = toResource("hooks", { provider: "text", url: "text", proof: "text" });
export const SMS_HOOK = toResource("hooks", { url: "text", signed_by: "text" });
/** A receipt, with nothing in it that tells who was erased. */
export const ERASURE = toResource("settings", {
  erased_at: "time",
  projects: "number",
  people: "number",
  responses: "number",
  surveys: "number",
  attempts: "number",
  memberships: "number",
  webhook_events: "number",
  messages: "number",
  mentions: "number",
  suppressions_kept: "number",
  links_kept: "number",
  verified: "text",
});
export const RETENTION = toResource("settings", {
  responses: "duration",
  mode: "text",
  requests: "duration",
  webhooks: "duration",
  expired_responses: "number",
  expired_requests: "number",
  expired_webhook_events: "number",
});
export const HEALTH = toResource("service", { status: "text" });
export const REMOVED = toResource("rows", { id: "id" });
