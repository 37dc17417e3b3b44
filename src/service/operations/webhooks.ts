import { createHash } from "node:crypto";
import * as v from "valibot";
import { countOf } from "../../contract/text/whole-number.ts";
import { readScoreSpan, SCORE_SPAN_FORM } from "../../contract/text/score-span.ts";
import { DAY_SECONDS } from "../../runtime/zone.ts";
import type { Random } from "../../runtime/random.ts";
import type { Redelivery, Transaction, WebhookDelivery, WebhookRow } from "../domain/ports.ts";
import { isDelivered } from "../domain/webhooks/attempts.ts";
import { testBody } from "../domain/webhooks/events.ts";
import { SIGNATURE_HEADER } from "../domain/webhooks/signature-settings.ts";
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from "../domain/webhooks/webhook.ts";
import {
  addWebhook,
  enableWebhook,
  formatSecret,
  pruneEvents,
  redeliver,
  removeWebhook,
  requireWebhook,
  rotateSecret,
} from "../domain/webhooks/webhooks.ts";
import { moment, namesAmong, overlap, PAGE, span, typed } from "./define/fields.ts";
import { defineOperation, orNull } from "./define/operation.ts";

const SECRET_BYTES = 32;
const STEP = 500;
/** Kept small, because each event includes the log of its attempts. */
const EVENTS_A_PAGE = 100;

export function createWebhookSecret(random: Random): string {
  return formatSecret(random.token(SECRET_BYTES));
}

export const webhookOperations = {
  "webhook.add": defineOperation({
    access: "write",
    input: {
      url: v.string(),
      // The error message doesn't repeat the secret.
      secret: orNull(
        typed<string>(
          (given) => (typeof given === "string" ? given : null),
          () => "must be text",
        ),
      ),
      signature_header: orNull(v.string()),
      allow_private: v.optional(v.boolean(), false),
      insecure_http: v.optional(v.boolean(), false),
      events: orNull(namesAmong(WEBHOOK_EVENTS)),
      score: orNull(span(readScoreSpan, SCORE_SPAN_FORM)),
      format: v.optional(v.picklist(WEBHOOK_FORMATS), "json"),
    },
    run: async (tx, project, { url, format, ...given }, { random, ownAddresses }) => {
      const webhook = {
        url,
        secret: given.secret ?? createWebhookSecret(random),
        signatureHeader: given.signature_header ?? SIGNATURE_HEADER,
        allowPrivate: given.allow_private,
        insecureHttp: given.insecure_http,
        events: given.events ?? WEBHOOK_EVENTS,
        scores: given.score,
        format,
      };
      return toSecretInfo(await addWebhook(tx, project, webhook, ownAddresses()));
    },
  }),
  "webhook.list": defineOperation({
    access: "read",
    run: async (tx, project) => {
      const infos = [];
      for (const webhook of await tx.webhooks.list(project.id)) infos.push(await toInfo(tx, webhook));
      return infos;
    },
  }),
  "webhook.remove": defineOperation({
    access: "write",
    input: { id: v.string() },
    confirm: async (tx, project, { id }) => {
      const { id: key, url } = await requireWebhook(tx, project, id);
      const { waiting } = await tx.webhooks.counts(project.id, key);
      return { question: `Remove webhook ${id} (${url}) and drop ${countOf(waiting, "event")}?`, id, url, waiting };
    },
    run: async (tx, project, { id }) => ({ id, dropped: await removeWebhook(tx, project, id) }),
    after: async ({ store }, removed) => {
      await pruneEvents(store);
      return removed;
    },
  }),
  "webhook.enable": defineOperation({
    access: "write",
    input: { id: v.string() },
    run: async (tx, project, { id }) => toInfo(tx, await enableWebhook(tx, project, id)),
  }),
  /** The old secret also signs for `overlap` seconds. */
  "webhook.rotate": defineOperation({
    access: "write",
    input: { id: v.string(), overlap: v.optional(overlap, DAY_SECONDS) },
    run: async (tx, project, { id, overlap: overlapSeconds }, { random }) => {
      const rotation = { secret: createWebhookSecret(random), overlapSeconds };
      return toSecretInfo(await rotateSecret(tx, project, id, rotation));
    },
  }),
  "webhook.test": defineOperation({
    access: "write",
    input: { id: v.string() },
    run: async (tx, project, { id }) => ({ webhook: await requireWebhook(tx, project, id), now: tx.now }),
    after: async ({ random, sendTest }, { webhook, now }, { id }) => {
      const eventId = createHash("sha256").update(random.token(SECRET_BYTES)).digest("hex");
      const { status, ms, text } = await sendTest(webhook, { eventId, body: testBody(webhook, eventId, now) });
      return { id, event_id: eventId, delivered: isDelivered(status), status, ms: Math.round(ms), text };
    },
  }),
  "webhook.deliveries": defineOperation({
    access: "read",
    input: {
      id: v.string(),
      failed: v.optional(v.boolean(), false),
      ...PAGE,
    },
    run: async (tx, project, { id, failed, after: before, limit: wanted }) => {
      const webhook = await requireWebhook(tx, project, id);
      const limit = Math.min(wanted, EVENTS_A_PAGE);
      const filter = { failed, before, limit: limit + 1 };
      const rows = await tx.webhooks.deliveries(project.id, webhook.id, filter);
      const shown = rows.slice(0, limit);
      return { rows: shown.map(toDelivery), next: rows.length > limit ? String(shown.at(-1)?.event) : null };
    },
  }),
  /** Without `since` and `event`, resends the events that failed permanently. */
  "webhook.redeliver": defineOperation({
    access: "write",
    input: { id: v.string(), since: orNull(moment), event: orNull(v.string()) },
    run: async (tx, project, { id, since, event }) => {
      const which: Redelivery =
        event !== null
          ? { which: "event", eventId: event }
          : since !== null
            ? { which: "since", since: since(tx.now) }
            : FAILED;
      return { project, which, first: await redeliver(tx, project, id, which, { after: 0, limit: STEP }) };
    },
    after: async ({ store }, { project, which, first }, { id }) => {
      let redelivered = 0;
      for (let step = first; step !== null;) {
        redelivered += step.count;
        if (step.count < STEP) break;
        const page = { after: step.last, limit: STEP };
        step = await store.write((tx) => redeliver(tx, project, id, which, page), { project: project.id });
      }
      return { id, redelivered };
    },
  }),
};

const FAILED = { which: "failed" } as const;

function toSecretInfo({ id, url, secret, previousUntil }: WebhookRow) {
  return { id: String(id), url, secret, previous_until: previousUntil };
}

async function toInfo(tx: Transaction, webhook: WebhookRow) {
  const { project, id, scores, disabledAt, failingSince } = webhook;
  const { waiting, failed } = await tx.webhooks.counts(project.id, id);
  return {
    id: String(id),
    url: webhook.url,
    state: disabledAt !== null ? "disabled" : failingSince === null ? "enabled" : "failing",
    reason: webhook.disabledReason,
    events: webhook.events,
    scores: scores === null ? null : `${scores.from}-${scores.to}`,
    format: webhook.format,
    signature_header: webhook.signatureHeader,
    waiting,
    /** Number of events that couldn't be delivered. */
    failed,
    /** Number of events that occurred after the webhook had been disabled for more than 7 days. */
    missed: webhook.missed,
    created_at: webhook.createdAt,
    last_delivered_at: webhook.lastDeliveredAt,
    failing_since: failingSince,
    disabled_at: disabledAt,
  };
}

function toDelivery({ eventId, type, state, attempts, createdAt, dueAt, log }: WebhookDelivery) {
  const last = log.at(-1);
  return {
    event_id: eventId,
    event_type: type,
    state,
    attempts,
    created_at: createdAt,
    due_at: dueAt,
    attempted_at: last?.at ?? null,
    status: last?.status ?? null,
    ms: last?.ms ?? null,
    text: last?.text ?? null,
    log,
  };
}
