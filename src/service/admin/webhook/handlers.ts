/** The commands about webhooks, on an open store. */
import { createHash } from "node:crypto";
import type { Random } from "../../../runtime/random.ts";
import type { Redelivery, Store, Transaction, WebhookDelivery, WebhookRow } from "../../domain/ports.ts";
import { type AttemptEnd, isDelivered } from "../../domain/webhooks/attempts.ts";
import { testBody } from "../../domain/webhooks/events.ts";
import { SIGNATURE_HEADER } from "../../domain/webhooks/signature-settings.ts";
import { WEBHOOK_EVENTS } from "../../domain/webhooks/webhook-rows.ts";
import {
  addWebhook,
  enableWebhook,
  formatSecret,
  pruneEvents,
  redeliver,
  removeWebhook,
  requireWebhook,
  rotateSecret,
} from "../../domain/webhooks/webhooks.ts";
import type { CommandOf, Handlers } from "../commands.ts";
import { requireProject, writeInProject } from "../in-project.ts";
import type { WebhookCommand, WebhookDeliveryInfo, WebhookInfo, WebhookSecretInfo } from "./commands.ts";

export interface WebhookAdminOptions {
  readonly store: Store;
  readonly random: Random;
  /** Addresses of this service. */
  readonly ownAddresses: () => readonly string[];
  readonly sendTest: (
    webhook: WebhookRow,
    event: { readonly eventId: string; readonly body: string },
  ) => Promise<AttemptEnd>;
}

const SECRET_BYTES = 32;
const STEP = 500;

export function createWebhookSecret(random: Random): string {
  return formatSecret(random.token(SECRET_BYTES));
}

/** Removes what waited for webhooks that are gone. */
export async function dropEvents(store: Store): Promise<void> {
  while (await store.write((tx) => pruneEvents(tx, STEP)));
}

export function createWebhookHandlers(options: WebhookAdminOptions): Pick<Handlers, WebhookCommand["kind"]> {
  const { store, random, ownAddresses, sendTest } = options;
  const newSecret = (): string => createWebhookSecret(random);
  return {
    "webhook.add": ({ project, url, secret = newSecret(), scores = null, ...given }) =>
      writeInProject(store, project, async (tx, found) => {
        const { signatureHeader = SIGNATURE_HEADER, events = WEBHOOK_EVENTS, ...rest } = given;
        const webhook = { ...rest, url, secret, signatureHeader, events, scores };
        return toSecretInfo(await addWebhook(tx, found, webhook, ownAddresses()));
      }),
    "webhook.list": ({ project }) =>
      store.read(async (tx) => {
        const infos: WebhookInfo[] = [];
        const { id } = await requireProject(tx, project);
        for (const webhook of await tx.webhooks.list(id)) infos.push(await toInfo(tx, webhook));
        return infos;
      }),
    "webhook.remove": async ({ project, id }) => {
      const dropped = await writeInProject(store, project, (tx, found) => removeWebhook(tx, found, id));
      await dropEvents(store);
      return { id, dropped };
    },
    "webhook.enable": ({ project, id }) =>
      writeInProject(store, project, async (tx, found) => toInfo(tx, await enableWebhook(tx, found, id))),
    "webhook.rotate": ({ project, id, overlapSeconds }) =>
      writeInProject(store, project, async (tx, found) =>
        toSecretInfo(await rotateSecret(tx, found, id, { secret: newSecret(), overlapSeconds })),
      ),
    "webhook.test": async ({ project, id }) => {
      const { webhook, now } = await store.read(async (tx) => ({
        webhook: await requireWebhook(tx, await requireProject(tx, project), id),
        now: tx.now,
      }));
      const eventId = createHash("sha256").update(random.token(SECRET_BYTES)).digest("hex");
      const { status, ms, text } = await sendTest(webhook, { eventId, body: testBody(webhook, eventId, now) });
      return { id, event_id: eventId, delivered: isDelivered(status), status, ms: Math.round(ms), text };
    },
    "webhook.deliveries": ({ project, id, failed, before = null, limit }) =>
      store.read(async (tx) => {
        const found = await requireProject(tx, project);
        const webhook = await requireWebhook(tx, found, id);
        const filter = { failed, before: before === null ? null : Number(before), limit: limit + 1 };
        const rows = await tx.webhooks.deliveries(found.id, webhook.id, filter);
        const shown = rows.slice(0, limit);
        return { rows: shown.map(toDelivery), next: rows.length > limit ? String(shown.at(-1)?.event) : null };
      }),
    "webhook.redeliver": async (command) => ({ id: command.id, redelivered: await redeliverAll(store, command) }),
  };
}

/** The number of events that go out again; a step of them at a time. */
async function redeliverAll(store: Store, command: CommandOf<"webhook.redeliver">): Promise<number> {
  const { project, id } = command;
  const which = whichEvents(command);
  let redelivered = 0;
  for (let after: number | null = 0; after !== null;) {
    const page: { after: number; limit: number } = { after, limit: STEP };
    const done: { last: number; count: number } | null = await writeInProject(store, project, (tx, found) =>
      redeliver(tx, found, id, which, page),
    );
    redelivered += done?.count ?? 0;
    after = done !== null && done.count === STEP ? done.last : null;
  }
  return redelivered;
}

function whichEvents({ since, event }: CommandOf<"webhook.redeliver">): Redelivery {
  if (event !== undefined) return { which: "event", eventId: event };
  return since === undefined ? { which: "failed" } : { which: "since", since };
}

function toSecretInfo({ id, url, secret, previousUntil }: WebhookRow): WebhookSecretInfo {
  return { id: String(id), url, secret, previous_until: previousUntil };
}

async function toInfo(tx: Transaction, webhook: WebhookRow): Promise<WebhookInfo> {
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
    failed,
    missed: webhook.missed,
    created_at: webhook.createdAt,
    last_delivered_at: webhook.lastDeliveredAt,
    failing_since: failingSince,
    disabled_at: disabledAt,
  };
}

function toDelivery(delivery: WebhookDelivery): WebhookDeliveryInfo {
  const { eventId, type, state, attempts, createdAt, dueAt, log } = delivery;
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
