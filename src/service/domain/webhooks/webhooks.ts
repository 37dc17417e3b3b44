import { checkText, InvalidError, NotFoundError } from "../errors.ts";
import { parseId } from "../ids.ts";
import type { Project } from "../inputs.ts";
import type { Store, Transaction } from "../ports.ts";
import { refuseUrl } from "./addresses.ts";
import { WELL } from "./attempts.ts";
import { refuseSecret, refuseSignatureHeader } from "./signature-settings.ts";
import type { NewWebhook, Redelivery, WebhookRow, WebhookSettings } from "./webhook.ts";

const URL_LENGTH_MAX = 2_000;

export function formatSecret(token: string): string {
  return `whsec_${Buffer.from(token, "base64url").toString("base64")}`;
}

export async function addWebhook(
  tx: Transaction,
  project: Project,
  webhook: NewWebhook,
  own: readonly string[],
): Promise<WebhookRow> {
  checkWebhook(webhook, own);
  const refusal = refuseSecret(webhook.secret);
  if (refusal !== null) throw new InvalidError({ secret: [refusal] });
  return tx.webhooks.insert(project.id, webhook);
}

export async function changeWebhook(
  tx: Transaction,
  project: Project,
  { id, url }: WebhookRow,
  settings: WebhookSettings,
  own: readonly string[],
): Promise<void> {
  checkWebhook({ ...settings, url }, own);
  await tx.webhooks.configure(project.id, id, settings);
}

function checkWebhook(webhook: WebhookSettings & Pick<NewWebhook, "url">, own: readonly string[]): void {
  const { url, signatureHeader, events } = webhook;
  checkText("url", url, { max: URL_LENGTH_MAX });
  const refusal = refuseUrl(url, webhook, own)?.message;
  if (refusal !== undefined) throw new InvalidError({ url: [`is not allowed: ${refusal}`] });
  const unusable = refuseSignatureHeader(signatureHeader);
  if (unusable !== null) throw new InvalidError({ signature_header: [unusable] });
  if (events.length === 0) throw new InvalidError({ events: ["can't be blank"] });
}

export async function requireWebhook(tx: Transaction, project: Project, id: string): Promise<WebhookRow> {
  const key = parseId(id);
  const webhook = key === null ? null : await tx.webhooks.byId(project.id, key);
  if (webhook === null) throw new NotFoundError(`project ${project.name} has no webhook ${id}`);
  return webhook;
}

export async function removeWebhook(tx: Transaction, project: Project, id: string): Promise<number> {
  const webhook = await requireWebhook(tx, project, id);
  const { waiting } = await tx.webhooks.counts(project.id, webhook.id);
  await tx.webhooks.delete(project.id, webhook.id);
  return waiting;
}

export async function enableWebhook(tx: Transaction, project: Project, id: string): Promise<WebhookRow> {
  const webhook = await requireWebhook(tx, project, id);
  const change = { ...WELL, disabledAt: null, disabledReason: null, missed: 0 };
  await tx.webhooks.change(project.id, webhook.id, change);
  return { ...webhook, ...change };
}

/** The old secret keeps signing for `overlapSeconds`. Throws NotFoundError. */
export async function rotateSecret(
  tx: Transaction,
  project: Project,
  id: string,
  rotation: { readonly secret: string; readonly overlapSeconds: number },
): Promise<WebhookRow> {
  const webhook = await requireWebhook(tx, project, id);
  const { secret, overlapSeconds } = rotation;
  const previous =
    overlapSeconds === 0
      ? { previousSecret: null, previousUntil: null }
      : { previousSecret: webhook.secret, previousUntil: tx.now + overlapSeconds };
  await tx.webhooks.change(project.id, webhook.id, { secret, ...previous });
  return { ...webhook, secret, ...previous };
}

/** Returns the last event and the number of deliveries; null if there are none. Throws NotFoundError. */
export async function redeliver(
  tx: Transaction,
  project: Project,
  id: string,
  which: Redelivery,
  page: { readonly after: number; readonly limit: number },
): Promise<{ readonly last: number; readonly count: number } | null> {
  const webhook = await requireWebhook(tx, project, id);
  const events = await tx.webhooks.redeliver(project.id, webhook.id, which, page);
  const last = events.at(-1);
  if (last === undefined && which.which === "event")
    throw new NotFoundError(`webhook ${id} has no event ${which.eventId} to send again`);
  return last === undefined ? null : { last, count: events.length };
}

const KEEP_SECONDS = 30 * 86_400;
const STEP = 500;

/** Deletes events older than 30 days, and the deliveries of removed webhooks. */
export async function pruneEvents(store: Pick<Store, "read" | "write">): Promise<void> {
  for (const { id: project } of await store.read((tx) => tx.projects.list())) {
    const step = (tx: Transaction): Promise<number> => tx.webhooks.prune(project, tx.now - KEEP_SECONDS, STEP);
    while ((await store.write(step, { project })) >= STEP);
  }
}
