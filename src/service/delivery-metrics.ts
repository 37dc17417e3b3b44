/** What `/metrics` says of deliveries. No addresses, no tokens. */
import type { Channel } from "../contract/routes.ts";
import { summarizeQueue } from "./domain/delivery/oversight.ts";
import { REPORT_OUTCOMES, type ReportOutcome } from "./domain/delivery/rows.ts";
import { TEXT_OUTCOMES, type TextOutcome } from "./domain/sms/receive-text.ts";
import { HOOK_SOURCES } from "./domain/delivery/hook-secrets.ts";
import type { SmtpStage } from "./delivery/smtp/smtp-types.ts";
import type { SenderHealth } from "./delivery/mail/sender-health.ts";
import type { AttemptFacts, DeliveryResult, OutcomeKind } from "./domain/delivery/sender.ts";
import type { Store } from "./domain/ports.ts";

const REFUSALS = ["secret", "signature", "body"] as const;
type Refusal = (typeof REFUSALS)[number];

export interface DeliveryMetrics {
  readonly count: (due: { readonly channel: Channel }, result: DeliveryResult) => void;
  /** A report that came back by mail, or from a provider. */
  readonly countReport: (source: string, outcome: ReportOutcome) => void;
  /** A text message that came in. */
  readonly countText: (outcome: TextOutcome) => void;
  /** A reply to one; `segments` is 0 for what did not go out. */
  readonly countReply: (outcome: string, segments: number) => void;
  /** A request to a hook that was neither a report nor a text. */
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
const REPLY_OUTCOMES = ["sent", "retry", "failed", "unknown", "dropped"] as const;
const CHANNELS: readonly Channel[] = ["email", "sms"];

/**
 * Counts outcomes since the start; what the queue holds is read when it is asked for, from counts that are kept.
 * `senders` says how they are now, by name.
 */
export function createDeliveryMetrics(
  store: Store,
  senders: () => Readonly<Record<string, Pick<SenderHealth, "mode" | "probes">>> = () => ({}),
): DeliveryMetrics {
  const replies = new Map<string, number>();
  const counts = new Map<string, number>(
    CHANNELS.flatMap((channel) => KINDS.map((kind) => [`${channel} ${kind}`, 0] as const)),
  );
  const reports = new Map<string, number>(
    ["mail", ...HOOK_SOURCES].flatMap((source) =>
      REPORT_OUTCOMES.map((outcome) => [`${source} ${outcome}`, 0] as const),
    ),
  );
  const refusals = new Map<string, number>(REFUSALS.map((why) => [why, 0]));
  const texts = new Map<string, number>(TEXT_OUTCOMES.map((outcome) => [outcome, 0]));
  const smsReplies = new Map<string, number>(REPLY_OUTCOMES.map((outcome) => [outcome, 0]));
  const sms = { segments: 0 };
  return {
    count: ({ channel }, { kind, attempt = null, segments = 0 }) => {
      add(counts, `${channel} ${kind}`);
      sms.segments += segments;
      if (channel === "email" && attempt !== null && SMTP_STAGES.has(attempt.stage)) add(replies, replyLabels(attempt));
    },
    countReport: (source, outcome) => add(reports, `${source} ${outcome}`),
    countText: (outcome) => add(texts, outcome),
    countReply: (outcome, segments) => {
      add(smsReplies, outcome);
      sms.segments += segments;
    },
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
        ...head("surveyctl_hook_refusals_total", "counter", "Requests to hooks that were refused."),
        ...[...refusals].map(([why, number]) => `surveyctl_hook_refusals_total{reason="${why}"} ${number}`),
        ...head("surveyctl_delivery_breaker", "gauge", "1 while the sender is stopped by refusals of its server."),
        ...Object.entries(senders()).map(
          ([sender, health]) => `surveyctl_delivery_breaker{sender="${sender}"} ${isStopped(health) ? 1 : 0}`,
        ),
        ...head("surveyctl_smtp_reply_total", "counter", "Mail by the last reply to it; code 0 for no reply."),
        ...[...replies].map(([labels, number]) => `surveyctl_smtp_reply_total{${labels}} ${number}`),
        ...head("surveyctl_sms_segments_total", "counter", "Segments of text messages that went out, or may have."),
        `surveyctl_sms_segments_total ${sms.segments}`,
        ...head("surveyctl_sms_received_total", "counter", "Text messages that came in, by what became of them."),
        ...[...texts].map(([outcome, number]) => `surveyctl_sms_received_total{outcome="${outcome}"} ${number}`),
        ...head("surveyctl_sms_replies_total", "counter", "Attempts to reply to text messages, by how they ended."),
        ...[...smsReplies].map(([outcome, number]) => `surveyctl_sms_replies_total{outcome="${outcome}"} ${number}`),
        "",
      ].join("\n");
    },
  };
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

const SMTP_STAGES: ReadonlySet<string> = new Set<SmtpStage>([
  "connect",
  "ehlo",
  "starttls",
  "auth",
  "mail-from",
  "rcpt-to",
  "data",
  "final-dot",
]);

/** A code is three digits in an honest dialogue; others make no series of their own. */
function replyLabels({ stage, code }: AttemptFacts): string {
  return `stage="${stage}",code="${code !== null && code >= 200 && code <= 599 ? code : 0}"`;
}

/** Its probes do not count as healthy. */
function isStopped({ mode, probes }: Pick<SenderHealth, "mode" | "probes">): boolean {
  return mode === "breaker" || (mode === "half-open" && probes === "breaker");
}

function head(name: string, type: "counter" | "gauge", help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}
