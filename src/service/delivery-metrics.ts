/** What `/metrics` says of deliveries. No addresses, no tokens. */
import type { Channel } from "../contract/routes.ts";
import { summarizeQueue } from "./domain/delivery/oversight.ts";
import type { OutcomeKind } from "./domain/delivery/sender.ts";
import type { Store } from "./domain/ports.ts";

export interface DeliveryMetrics {
  readonly count: (due: { readonly channel: Channel }, kind: OutcomeKind) => void;
  /** Lines in Prometheus' text format. */
  readonly text: () => Promise<string>;
}

const KINDS: readonly OutcomeKind[] = [
  "sent",
  "bounced",
  "retry",
  "failed",
  "held",
  "unknown",
  "released",
  "cancelled",
];
const CHANNELS: readonly Channel[] = ["email", "sms"];

/** Counts outcomes since the start; what the queue holds is read when it is asked for, from counts that are kept. */
export function createDeliveryMetrics(store: Store): DeliveryMetrics {
  const counts = new Map<string, number>(
    CHANNELS.flatMap((channel) => KINDS.map((kind) => [`${channel} ${kind}`, 0] as const)),
  );
  return {
    count: ({ channel }, kind) => {
      const key = `${channel} ${kind}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    text: async () => {
      const queue = await store.read(summarizeQueue);
      const outcomes = [...counts].map(([key, number]) => {
        const [channel = "", outcome = ""] = key.split(" ");
        return `surveyctl_delivery_total{channel="${channel}",outcome="${outcome}"} ${number}`;
      });
      const states = Object.entries(queue.waiting).map(
        ([state, number]) => `surveyctl_delivery_queue{state="${state}"} ${number}`,
      );
      return [
        ...head("surveyctl_delivery_total", "counter", "Deliveries, by how they ended."),
        ...outcomes,
        ...head("surveyctl_delivery_queue", "gauge", "Surveys that are still to be sent, by state."),
        ...states,
        ...head("surveyctl_delivery_oldest_due_seconds", "gauge", "How long the oldest due survey has waited."),
        `surveyctl_delivery_oldest_due_seconds ${queue.oldestDueSeconds}`,
        ...head("surveyctl_delivery_unknown", "gauge", "Surveys that may or may not have arrived."),
        `surveyctl_delivery_unknown ${queue.unknown}`,
        "",
      ].join("\n");
    },
  };
}

function head(name: string, type: "counter" | "gauge", help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}
