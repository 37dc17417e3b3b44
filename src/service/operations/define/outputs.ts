/**
 * The fields that each operation returns, with their kinds; commands show them as columns. Operations can return other
 * fields too.
 */
import type { ColumnKind } from "../../../contract/column-kinds.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { KIND_SCHEMAS } from "../../../contract/column-kinds.ts";

type Fields = Readonly<Record<string, ColumnKind>>;

const REMOVED: Fields = { id: "id" };
const NEW_KEY: Fields = { id: "id", name: "text", key: "text", base_url: "text" };
const BRAND: Fields = { name: "text", color: "text", text_color: "text", logo_url: "text" };
const LINK: Fields = { id: "id", name: "text", url: "text", properties: "text", created_at: "time" };
const TREND: Fields = { id: "id", name: "text", where: "text", created_at: "time" };
const PAUSE: Fields = { project: "text", paused_at: "time" };
const PREVIEW: Fields = { from: "text", to: "text", subject: "text", text: "text", html: "text" };
const WEBHOOK_SECRET: Fields = { id: "id", url: "text", secret: "text", previous_until: "time" };
const SHARE: Fields = {
  id: "id",
  name: "text",
  trend: "id",
  segments: "text",
  comments: "flag",
  created_at: "time",
  expires_at: "time",
};
const TEXTS: Fields = {
  locale: "text",
  score: "text",
  product_name: "text",
  question: "text",
  subject: "text",
  intro: "text",
  thank_you: "text",
  thank_you_link: "text",
  thank_you_link_text: "text",
  comment_question: "text",
};
const QUESTION: Fields = {
  id: "id",
  type: "text",
  text: "text",
  choices: "text",
  scale: "text",
  to: "text",
  position: "number",
  retired_at: "time",
};
const DIGEST: Fields = {
  id: "id",
  target: "text",
  every: "text",
  at: "text",
  tz: "text",
  state: "status",
  next_at: "time",
  last_sent_at: "time",
  reason: "text",
  created_at: "time",
};
const WEBHOOK: Fields = {
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
};
const SURVEY: Fields = {
  id: "id",
  channel: "text",
  email: "text",
  phone_number: "phone",
  state: "status",
  reason: "text",
  due_at: "time",
  sent_at: "time",
  attempts: "number",
};

export const OUTPUTS = {
  "key.add": NEW_KEY,
  "key.list": {
    id: "id",
    name: "text",
    access: "text",
    last_four: "text",
    created_at: "time",
    last_used_on: "text",
    expires_at: "time",
  },
  "key.revoke": REMOVED,
  "key.rotate": { ...NEW_KEY, previous: "text", previous_until: "time", previous_last_four: "text" },
  throttle: { throttle: "duration" },
  reminder: { after_seconds: "number", channel: "text" },
  autopilot: {
    platform: "text",
    active: "flag",
    frequency: "duration",
    first: "text",
    days: "text",
    hours: "text",
    tz: "text",
  },
  settings: {
    sender_name: "text",
    from: "text",
    reply_to: "text",
    footer: "text",
    tz: "text",
    soft_bounces: "number",
    daily_limit: "number",
  },
  apply: { change: "text", key: "text", from: "text", to: "text" },
  "survey.preview": PREVIEW,
  "link.add": LINK,
  "link.list": LINK,
  "link.remove": REMOVED,
  "brand.set": BRAND,
  "brand.show": BRAND,
  "texts.set": TEXTS,
  "texts.show": TEXTS,
  "share.add": { ...SHARE, url: "text", json_url: "text", csv_url: "text" },
  "share.list": SHARE,
  "share.remove": { id: "id", name: "text" },
  "trend.add": TREND,
  "trend.list": TREND,
  "trend.remove": REMOVED,
  "question.add": QUESTION,
  "question.list": QUESTION,
  "question.show": { ...QUESTION, texts: "text" },
  "question.move": QUESTION,
  "question.retire": QUESTION,
  "question.text": { ...QUESTION, texts: "text" },
  "digest.add": DIGEST,
  "digest.list": DIGEST,
  "digest.preview": PREVIEW,
  "digest.test": { to: "text", subject: "text", status: "number", text: "text" },
  "digest.remove": { id: "id", target: "text" },
  "webhook.add": WEBHOOK_SECRET,
  "webhook.list": WEBHOOK,
  "webhook.remove": { id: "id", dropped: "number" },
  "webhook.enable": WEBHOOK,
  "webhook.rotate": WEBHOOK_SECRET,
  "webhook.test": { id: "id", event_id: "text", delivered: "text", status: "number", ms: "number", text: "text" },
  "webhook.deliveries": {
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
  "webhook.redeliver": { id: "id", redelivered: "number" },
  "bounce.clear": {
    email: "text",
    bounced_at: "time",
    reported_at: "time",
    stage: "text",
    code: "number",
    enhanced_code: "text",
    text: "text",
  },
  "bounce.list": { id: "id", email: "text", soft_bounces: "number", last_at: "time", text: "text" },
  "delivery.list": SURVEY,
  "delivery.show": {
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
  },
  "delivery.resolve": SURVEY,
  "delivery.test": { subject: "text", message_id: "text", mail: "text" },
  pause: PAUSE,
  resume: PAUSE,
  /** No field may reveal who was erased. */
  erase: {
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
  },
  retention: {
    responses: "duration",
    mode: "text",
    requests: "duration",
    webhooks: "duration",
    expired_responses: "number",
    expired_requests: "number",
    expired_webhook_events: "number",
    log: "duration",
    expired_log_lines: "number",
  },
  log: { time: "time", project: "text", operation: "text", by: "text", what: "text", result: "text" },
} as const satisfies Readonly<Record<string, Fields>>;

/** Operations that return rows instead of one object. */
const LISTS = /\.list$|^texts\.|^(?:apply|log|webhook\.deliveries)$/;

export function describeOutput(name: keyof typeof OUTPUTS): JsonObject {
  const fields = Object.entries<ColumnKind>(OUTPUTS[name]).map(([field, kind]) => [field, KIND_SCHEMAS[kind]]);
  const row: JsonObject = { type: "object", properties: Object.fromEntries(fields) };
  return LISTS.test(name) ? { type: "array", items: row } : row;
}
