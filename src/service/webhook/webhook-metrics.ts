/** What `/metrics` says of webhooks. No URLs. */
import type { Store, Transaction } from "../domain/ports.ts";
import type { AttemptMeaning } from "../domain/webhooks/attempts.ts";

const MEANINGS = ["delivered", "retry", "failed", "disabled"] as const satisfies readonly AttemptMeaning["kind"][];

/** Lines in Prometheus' text format; `attempts` are those since the start. */
export async function webhookMetrics(
  store: Store,
  attempts: ReadonlyMap<AttemptMeaning["kind"], number>,
): Promise<string> {
  const { endpoints, waiting, oldestDueSeconds } = await store.read(summarize);
  return [
    "# HELP surveyctl_webhook_attempts_total Attempts to deliver an event, by what became of it.",
    "# TYPE surveyctl_webhook_attempts_total counter",
    ...MEANINGS.map((kind) => `surveyctl_webhook_attempts_total{outcome="${kind}"} ${attempts.get(kind) ?? 0}`),
    "# HELP surveyctl_webhook_endpoints Webhooks, by state.",
    "# TYPE surveyctl_webhook_endpoints gauge",
    ...Object.entries(endpoints).map(([state, count]) => `surveyctl_webhook_endpoints{state="${state}"} ${count}`),
    "# HELP surveyctl_webhook_queue Events that are still to be delivered, by the state of their endpoint.",
    "# TYPE surveyctl_webhook_queue gauge",
    ...Object.entries(waiting).map(([state, count]) => `surveyctl_webhook_queue{state="${state}"} ${count}`),
    "# HELP surveyctl_webhook_oldest_due_seconds How long the oldest due event has waited.",
    "# TYPE surveyctl_webhook_oldest_due_seconds gauge",
    `surveyctl_webhook_oldest_due_seconds ${oldestDueSeconds}`,
    "",
  ].join("\n");
}

async function summarize(tx: Transaction) {
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
