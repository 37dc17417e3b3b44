/** No URLs. */
import { type Family, writeFamily } from "../../runtime/metrics.ts";
import type { Transaction } from "../domain/ports.ts";
import type { AttemptMeaning } from "../domain/webhooks/attempts.ts";

const MEANINGS = ["delivered", "retry", "failed", "disabled"] as const satisfies readonly AttemptMeaning["kind"][];

const ATTEMPTS: Family = {
  name: "surveyctl_webhook_attempts_total",
  type: "counter",
  help: "Attempts to deliver an event, by what became of it.",
  labels: ["outcome"],
};
const ENDPOINTS: Family = {
  name: "surveyctl_webhook_endpoints",
  type: "gauge",
  help: "Webhooks, by state.",
  labels: ["state"],
};
const QUEUE: Family = {
  name: "surveyctl_webhook_queue",
  type: "gauge",
  help: "Events that are still to be delivered, by the state of their endpoint.",
  labels: ["state"],
};
const PENDING: Family = {
  name: "surveyctl_webhooks_pending",
  type: "gauge",
  help: "Events that are still to be delivered.",
};
const OLDEST: Family = {
  name: "surveyctl_webhook_oldest_due_seconds",
  type: "gauge",
  help: "How long the oldest due event has waited.",
};

type EndpointState = "enabled" | "failing" | "disabled";

export interface WebhookSummary {
  readonly endpoints: Readonly<Record<EndpointState, number>>;
  readonly waiting: Readonly<Record<EndpointState, number>>;
  readonly oldestDueSeconds: number;
}

export async function summarizeWebhooks(tx: Transaction): Promise<WebhookSummary> {
  const endpoints = { enabled: 0, failing: 0, disabled: 0 };
  const waiting = { enabled: 0, failing: 0, disabled: 0 };
  for (const { project, id, disabledAt, failingSince } of await tx.webhooks.list(null)) {
    const state = disabledAt !== null ? "disabled" : failingSince === null ? "enabled" : "failing";
    endpoints[state] += 1;
    waiting[state] += (await tx.webhooks.counts(project.id, id)).waiting;
  }
  const oldest = await tx.webhooks.oldestDueAt();
  return { endpoints, waiting, oldestDueSeconds: oldest === null ? 0 : Math.max(0, tx.now - oldest) };
}

export function webhookMetrics(
  summary: WebhookSummary | null,
  attempts: ReadonlyMap<AttemptMeaning["kind"], number>,
): readonly string[] {
  const counts = writeFamily(
    ATTEMPTS,
    MEANINGS.map((kind) => [[kind], attempts.get(kind) ?? 0]),
  );
  if (summary === null) return counts;
  const { endpoints, waiting, oldestDueSeconds } = summary;
  const pending = Object.values(waiting).reduce((sum, count) => sum + count, 0);
  return [
    ...counts,
    ...writeFamily(
      ENDPOINTS,
      Object.entries(endpoints).map(([state, count]) => [[state], count]),
    ),
    ...writeFamily(
      QUEUE,
      Object.entries(waiting).map(([state, count]) => [[state], count]),
    ),
    ...writeFamily(PENDING, [[[], pending]]),
    ...writeFamily(OLDEST, [[[], oldestDueSeconds]]),
  ];
}
