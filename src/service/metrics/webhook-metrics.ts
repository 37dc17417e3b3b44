/** Metrics of webhooks. They must not contain URLs. */
import { type MetricSample, writeCounter, writeGauge } from "../../runtime/metrics.ts";
import type { Transaction } from "../domain/ports.ts";
import type { AttemptMeaning } from "../domain/webhooks/attempts.ts";

const MEANINGS = ["delivered", "retry", "failed", "disabled"] as const satisfies readonly AttemptMeaning["kind"][];

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
  const counts = writeCounter(
    {
      name: "surveyctl_webhook_attempts_total",
      help: "Attempts to deliver an event, by what became of it.",
      labels: ["outcome"],
    },
    MEANINGS.map((kind) => [[kind], attempts.get(kind) ?? 0]),
  );
  if (summary === null) return counts;
  const { endpoints, waiting, oldestDueSeconds } = summary;
  const pending = Object.values(waiting).reduce((sum, count) => sum + count, 0);
  const queueHelp = "Events that are still to be delivered, by the state of their endpoint.";
  const pendingHelp = "Events that are still to be delivered.";
  const oldestHelp = "How long the oldest due event has waited.";
  return [
    ...counts,
    ...byState("surveyctl_webhook_endpoints", "Webhooks, by state.", endpoints),
    ...byState("surveyctl_webhook_queue", queueHelp, waiting),
    ...writeGauge({ name: "surveyctl_webhooks_pending", help: pendingHelp }, pending),
    ...writeGauge({ name: "surveyctl_webhook_oldest_due_seconds", help: oldestHelp }, oldestDueSeconds),
  ];
}

function byState(name: string, help: string, states: Readonly<Record<string, number>>): readonly string[] {
  const samples = Object.entries(states).map(([state, count]): MetricSample => [[state], count]);
  return writeGauge({ name, help, labels: ["state"] }, samples);
}
