import { DAY_SECONDS } from "../../../runtime/zone.ts";
import { dueAfter } from "../write-time.ts";
import type { Transaction } from "../ports.ts";
import type { WebhookAttempt, WebhookRow } from "./webhook.ts";

export interface AttemptEnd extends Omit<WebhookAttempt, "n" | "at"> {
  readonly retryAfter: number | null;
}

export type AttemptMeaning =
  | { readonly kind: "delivered" | "retry" | "failed" | "gone" }
  /** The endpoint is disabled, so the event waits. `isNew` means that this attempt disabled it. */
  | { readonly kind: "disabled"; readonly reason: string; readonly isNew: boolean };

const MINUTE = 60;
const HOUR = 3_600;
const RETRY_SECONDS: readonly number[] = [
  5,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** How long to pause for an overloaded endpoint, by the number of consecutive responses that say so. */
const SLOW_SECONDS: readonly number[] = [5, 30, MINUTE, 5 * MINUTE, 30 * MINUTE];
const RETRY_AFTER_MAX = DAY_SECONDS;
const FAILING_MAX = 5 * DAY_SECONDS;
const SPREAD = 0.2;

export function isDelivered(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** True if a response concerns the whole endpoint: it is overloaded, or gone. */
export function asksForPause(status: number | null): boolean {
  return status === GONE || (status !== null && OVERLOADED.has(status));
}

const GONE = 410;
const OVERLOADED = new Set([429, 502, 504]);

/** `fraction` (0 to 1) spreads retries by up to 20%. */
export async function recordAttempt(
  tx: Transaction,
  { project, id }: Pick<WebhookRow, "project" | "id">,
  event: number,
  { retryAfter, ...ended }: AttemptEnd,
  fraction: number,
): Promise<AttemptMeaning> {
  const webhook = await tx.webhooks.byId(project.id, id);
  const delivery = await tx.webhooks.delivery(project.id, id, event);
  if (webhook === null || delivery === null) return { kind: "gone" };
  await tx.webhooks.log(project.id, id, event, { at: tx.now, ...ended });
  const attempts = delivery.attempts + 1;
  if (isDelivered(ended.status)) {
    await tx.webhooks.settle(project.id, id, event, { state: "delivered", attempts, dueAt: null });
    if (!isWell(webhook) || webhook.lastDeliveredAt !== tx.now)
      await tx.webhooks.change(project.id, id, { ...WELL, lastDeliveredAt: tx.now });
    return { kind: "delivered" };
  }
  const waitSeconds = Math.min(retryAfter ?? 0, RETRY_AFTER_MAX);
  const reason = await noteFailure(tx, webhook, ended.status, waitSeconds);
  if (reason !== null) {
    await tx.webhooks.settle(project.id, id, event, { state: "waiting", attempts, dueAt: tx.now });
    return { kind: "disabled", reason, isNew: webhook.disabledAt === null };
  }
  const step = RETRY_SECONDS[attempts - 1];
  const delay = step === undefined ? 0 : Math.round(step * (1 - SPREAD + 2 * SPREAD * fraction));
  const state = step === undefined ? "failed" : "waiting";
  const dueAt = step === undefined ? null : dueAfter(tx, Math.max(delay, waitSeconds));
  await tx.webhooks.settle(project.id, id, event, { state, attempts, dueAt });
  return { kind: step === undefined ? "failed" : "retry" };
}

export const WELL = { failingSince: null, strikes: 0, slowUntil: null } as const;

function isWell({ failingSince, strikes, slowUntil }: WebhookRow): boolean {
  return failingSince === null && strikes === 0 && slowUntil === null;
}

async function noteFailure(
  tx: Transaction,
  webhook: WebhookRow,
  status: number | null,
  waitSeconds: number,
): Promise<string | null> {
  const failingSince = webhook.failingSince ?? tx.now;
  const isSlow = status !== null && OVERLOADED.has(status);
  const pause = SLOW_SECONDS[Math.min(webhook.strikes, SLOW_SECONDS.length - 1)] ?? 0;
  const slow = isSlow ? { strikes: webhook.strikes + 1, slowUntil: dueAfter(tx, Math.max(pause, waitSeconds)) } : {};
  const reason =
    status === GONE ? "it answered 410 Gone" : tx.now - failingSince >= FAILING_MAX ? "it failed for 5 days" : null;
  const isNew = reason !== null && webhook.disabledAt === null;
  const disabled = isNew ? { disabledAt: tx.now, disabledReason: reason } : {};
  if (webhook.failingSince === null || isSlow || isNew)
    await tx.webhooks.change(webhook.project.id, webhook.id, { failingSince, ...slow, ...disabled });
  return reason;
}
