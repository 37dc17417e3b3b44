/** What operations return, as JSON Schemas. Times are Unix seconds. */
import type { JsonObject } from "../../../contract/json.ts";

const KINDS = {
  id: { type: ["string", "null"] },
  text: { type: ["string", "null"] },
  time: { type: ["integer", "null"], description: "Unix seconds" },
  seconds: { type: ["number", "null"], description: "seconds" },
  number: { type: ["number", "null"] },
  flag: { type: ["boolean", "null"] },
  list: { type: "array" },
  map: { type: ["object", "null"] },
  any: {},
} as const satisfies Readonly<Record<string, JsonObject>>;

type Fields = Readonly<Record<string, keyof typeof KINDS>>;

function one(fields: Fields): JsonObject {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, kind]) => [name, KINDS[kind]]));
  return { type: "object", properties, required: Object.keys(fields) };
}

function many(fields: Fields): JsonObject {
  return { type: "array", items: one(fields) };
}

const REMOVED = one({ id: "id" });
const NEW_KEY: Fields = { id: "id", name: "text", key: "text" };
const QUESTION: Fields = {
  id: "id",
  type: "text",
  text: "text",
  choices: "list",
  scale: "map",
  to: "text",
  position: "number",
  retired_at: "time",
};
const DIGEST: Fields = {
  id: "id",
  email: "text",
  every: "text",
  at: "text",
  tz: "text",
  state: "text",
  next_at: "time",
  last_sent_at: "time",
  reason: "text",
  created_at: "time",
};
const WEBHOOK: Fields = {
  id: "id",
  url: "text",
  state: "text",
  reason: "text",
  events: "list",
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
const WEBHOOK_SECRET = one({ id: "id", url: "text", secret: "text", previous_until: "time" });
const DELIVERY: Fields = {
  id: "id",
  channel: "text",
  email: "text",
  phone_number: "text",
  state: "text",
  reason: "text",
  due_at: "time",
  sent_at: "time",
  attempts: "number",
};
const PREVIEW: Fields = { from: "text", to: "text", subject: "text", text: "text", html: "text", message: "text" };
const LINK: Fields = { id: "id", name: "text", url: "text", properties: "any", created_at: "time" };
const SHARE: Fields = {
  id: "id",
  name: "text",
  trend: "id",
  segments: "list",
  comments: "flag",
  created_at: "time",
  expires_at: "time",
};
const TREND: Fields = { id: "id", name: "text", where: "map", created_at: "time" };
const BRAND = one({ name: "text", color: "text", text_color: "text", logo_url: "text" });
const TEXTS = many({ locale: "text", score: "text" });
const PAUSE = one({ project: "text", paused_at: "time", all_paused_at: "time", paused_projects: "list" });

export const OUTPUTS = {
  "key.add": one(NEW_KEY),
  "key.list": many({
    id: "id",
    name: "text",
    access: "text",
    last_four: "text",
    created_at: "time",
    last_used_on: "text",
    expires_at: "time",
  }),
  "key.revoke": REMOVED,
  "key.rotate": one({ ...NEW_KEY, previous: "list", previous_until: "time" }),
  throttle: one({ throttle: "seconds" }),
  reminder: one({ after_seconds: "seconds", channel: "text" }),
  autopilot: one({
    platform: "text",
    active: "flag",
    frequency: "seconds",
    first: "text",
    days: "text",
    hours: "text",
    tz: "text",
  }),
  settings: { type: "object" },
  apply: many({ change: "text", key: "text", from: "any", to: "any" }),
  "survey.preview": one(PREVIEW),
  "survey.link": one({ url: "text" }),
  "link.add": one(LINK),
  "link.list": many(LINK),
  "link.remove": REMOVED,
  "brand.set": BRAND,
  "brand.show": BRAND,
  "texts.set": TEXTS,
  "texts.show": TEXTS,
  "share.add": one({ ...SHARE, url: "text" }),
  "share.list": many(SHARE),
  "share.remove": one({ id: "id", name: "text" }),
  "trend.add": one(TREND),
  "trend.list": many(TREND),
  "trend.remove": REMOVED,
  "question.add": one(QUESTION),
  "question.list": many(QUESTION),
  "question.show": one({ ...QUESTION, texts: "any" }),
  "question.move": one(QUESTION),
  "question.retire": one(QUESTION),
  "question.text": one({ ...QUESTION, texts: "any" }),
  "digest.add": one(DIGEST),
  "digest.list": many(DIGEST),
  "digest.preview": one(PREVIEW),
  "digest.test": one({ to: "text", subject: "text", status: "number", text: "text", mail: "map" }),
  "digest.remove": one({ id: "id", email: "text" }),
  "webhook.add": WEBHOOK_SECRET,
  "webhook.list": many(WEBHOOK),
  "webhook.remove": one({ id: "id", dropped: "number" }),
  "webhook.enable": one(WEBHOOK),
  "webhook.rotate": WEBHOOK_SECRET,
  "webhook.test": one({
    id: "id",
    event_id: "text",
    delivered: "flag",
    status: "number",
    ms: "number",
    text: "text",
  }),
  "webhook.deliveries": many({
    event_id: "text",
    event_type: "text",
    state: "text",
    attempts: "number",
    created_at: "time",
    due_at: "time",
    attempted_at: "time",
    status: "number",
    ms: "number",
    text: "text",
    log: "list",
  }),
  "webhook.redeliver": one({ id: "id", redelivered: "number" }),
  "bounce.clear": one({
    email: "text",
    bounced_at: "time",
    reported_at: "time",
    stage: "text",
    code: "number",
    enhanced_code: "text",
    text: "text",
  }),
  "bounce.list": many({ id: "id", email: "text", soft_bounces: "number", last_at: "time", text: "text" }),
  "delivery.list": { type: "array", items: { type: "object" } },
  "delivery.show": one({
    id: "id",
    email: "text",
    phone_number: "text",
    explanation: "text",
    unsubscribed_at: "time",
    bounced_at: "time",
    sms_unsubscribed_at: "time",
    last_sent_at: "time",
    next_survey_scheduled_at: "time",
    surveys: "list",
    not_scheduled: "list",
  }),
  "delivery.resolve": one(DELIVERY),
  "delivery.test": one({ subject: "text", message_id: "text", mail: "map" }),
  pause: PAUSE,
  resume: PAUSE,
  erase: one({ erased_at: "time", projects: "number", people: "number", responses: "number", verified: "flag" }),
  retention: one({ responses: "seconds", mode: "text", requests: "seconds", webhooks: "seconds", log: "seconds" }),
  log: many({ time: "time", project: "text", operation: "text", by: "text", what: "text", result: "map" }),
} satisfies Readonly<Record<string, JsonObject>>;
