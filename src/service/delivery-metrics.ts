/** What `/metrics` says of deliveries. No addresses, no tokens. */
import type { Channel } from "../contract/routes.ts";
import { summarizeQueue } from "./domain/delivery/oversight.ts";
import { REPORT_OUTCOMES, type ReportOutcome } from "./domain/delivery/rows.ts";
import { HOOK_SOURCES } from "./domain/delivery/hook-secrets.ts";
import type { OutcomeKind } from "./domain/delivery/sender.ts";
import type { Store } from "./domain/ports.ts";

const REFUSALS = ["secret", "signature", "body"] as const;
type Refusal = (typeof REFUSALS)[number];

export interface DeliveryMetrics {
  readonly count: (due: { readonly channel: Channel }, kind: OutcomeKind) => void;
  /** A report that came back by mail, or from a provider. */
  readonly countReport: (source: string, outcome: ReportOutcome) => void;
  /** A request to a hook that was no report. */
  readonly countRefusal: (why: Refusal) => void;
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
  const reports = new Map<string, number>(
    ["mail", ...HOOK_SOURCES].flatMap((source) =>
      REPORT_OUTCOMES.map((outcome) => [`${source} ${outcome}`, 0] as const),
    ),
  );
  const refusals = new Map<string, number>(REFUSALS.map((why) => [why, 0]));
  return {
    count: ({ channel }, kind) => add(counts, `${channel} ${kind}`),
    countReport: (source, outcome) => add(reports, `${source} ${outcome}`),
    countRefusal: (why) => add(refusals, why),
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
        ...head("surveyctl_reports_total", "counter", "Reports about surveys that came back, by what became of them."),
        ...[...reports].map(([key, number]) => {
          const [source = "", outcome = ""] = key.split(" ");
          return `surveyctl_reports_total{source="${source}",outcome="${outcome}"} ${number}`;
        }),
        ...head("surveyctl_hook_refusals_total", "counter", "Requests to the bounce hook that were refused."),
        ...[...refusals].map(([why, number]) => `surveyctl_hook_refusals_total{reason="${why}"} ${number}`),
        "",
      ].join("\n");
    },
  };
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function head(name: string, type: "counter" | "gauge", help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}
