/** No addresses or tokens. */
import type { Channel } from "../../contract/routes.ts";
import { createCounter, createHistogram, type Family, type MetricSample, writeFamily } from "../../runtime/metrics.ts";
import type { QueueSummary } from "../domain/delivery/oversight.ts";
import type { OutgoingChannel } from "../domain/delivery/queue-rows.ts";
import { type KeptSender, REPORT_OUTCOMES, type ReportOutcome } from "../domain/delivery/rows.ts";
import { TEXT_OUTCOMES, type TextOutcome } from "../domain/sms/receive-text.ts";
import { HOOK_SOURCES } from "../domain/delivery/hook-secrets.ts";
import type { SmtpStage } from "../delivery/smtp/smtp-types.ts";
import { hasStopped, type SenderHealth } from "../sending/pacing/sender-health.ts";
import type { AttemptFacts, DeliveryResult, OutcomeKind } from "../domain/delivery/sender.ts";

const REFUSALS = ["secret", "signature", "body"] as const;
type Refusal = (typeof REFUSALS)[number];

export interface DueQueue extends QueueSummary {
  readonly due: number;
}

export interface DeliveryMetrics {
  /** `seconds` is the time from claim to end. */
  readonly count: (due: { readonly channel: OutgoingChannel }, result: DeliveryResult, seconds: number) => void;
  readonly countReport: (source: string, outcome: ReportOutcome) => void;
  readonly countText: (outcome: TextOutcome) => void;
  /** A request to a hook that was neither a report nor a text. */
  readonly countRefusal: (why: Refusal) => void;
  /** Without a queue, only this process' counts. */
  readonly lines: (queue: DueQueue | null, senders: SenderStates) => readonly string[];
}

export interface SenderStates {
  readonly own: readonly { readonly name: string; readonly health: () => SenderHealth }[];
  readonly process: string;
  readonly kept: readonly KeptSender[];
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

const OUTCOMES: Family = {
  name: "surveyctl_delivery_total",
  type: "counter",
  help: "Deliveries, by how they ended.",
  labels: ["channel", "outcome"],
};
const DURATION: Family = {
  name: "surveyctl_delivery_duration_seconds",
  type: "histogram",
  help: "Time from a survey's claim to the end of its delivery.",
  labels: ["channel"],
};
const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300] as const;
const REPORTS: Family = {
  name: "surveyctl_reports_total",
  type: "counter",
  help: "Bounce and complaint reports, by outcome.",
  labels: ["source", "outcome"],
};
const REFUSED: Family = {
  name: "surveyctl_hook_refusals_total",
  type: "counter",
  help: "Requests to hooks that were refused.",
  labels: ["reason"],
};
const BREAKER: Family = {
  name: "surveyctl_delivery_breaker",
  type: "gauge",
  help: "1 while the sender is stopped by refusals of its server.",
  labels: ["sender", "process"],
};
const REPLIES: Family = {
  name: "surveyctl_smtp_reply_total",
  type: "counter",
  help: "Mail by the last reply to it; code 0 for no reply.",
  labels: ["stage", "code"],
};

const SEGMENTS: Family = {
  name: "surveyctl_sms_segments_total",
  type: "counter",
  help: "Segments of text messages that went out, or may have.",
  labels: [],
};
const RECEIVED_TEXTS: Family = {
  name: "surveyctl_sms_received_total",
  type: "counter",
  help: "Incoming text messages, by outcome.",
  labels: ["outcome"],
};
const TEXT_REPLIES: Family = {
  name: "surveyctl_sms_replies_total",
  type: "counter",
  help: "Attempts to reply to text messages, by how they ended.",
  labels: ["outcome"],
};
const REPLY_OUTCOMES = ["sent", "retry", "failed", "unknown", "dropped"] as const;

export function createDeliveryMetrics(): DeliveryMetrics {
  const replies = createCounter();
  const outcomes = createCounter(CHANNELS.flatMap((channel) => KINDS.map((kind) => [channel, kind])));
  const durations = createHistogram(DURATION, DURATION_BUCKETS);
  const reports = createCounter(
    ["mail", ...HOOK_SOURCES].flatMap((source) => REPORT_OUTCOMES.map((outcome) => [source, outcome])),
  );
  const refusals = createCounter(REFUSALS.map((why) => [why]));
  const texts = createCounter(TEXT_OUTCOMES.map((outcome) => [outcome]));
  const textReplies = createCounter(REPLY_OUTCOMES.map((outcome) => [outcome]));
  const sms = { segments: 0 };
  const countReply = (kind: OutcomeKind): void => {
    const outcome = REPLY_OUTCOMES.find((one) => one === (kind === "cancelled" ? "dropped" : kind));
    if (outcome !== undefined) textReplies.add([outcome]);
  };
  return {
    count: ({ channel }, { kind, attempt = null, segments = 0 }, seconds) => {
      sms.segments += segments;
      if (channel === "reply") return countReply(kind);
      if (channel === "digest") return;
      outcomes.add([channel, kind]);
      durations.observe(seconds, [channel]);
      if (channel === "email" && attempt !== null && SMTP_STAGES.has(attempt.stage)) replies.add(replyLabels(attempt));
    },
    countReport: (source, outcome) => reports.add([source, outcome]),
    countText: (outcome) => texts.add([outcome]),
    countRefusal: (why) => refusals.add([why]),
    lines: (queue, senders) => [
      ...writeFamily(OUTCOMES, outcomes.samples()),
      ...durations.lines(),
      ...(queue === null ? [] : queueLines(queue)),
      ...writeFamily(REPORTS, reports.samples()),
      ...writeFamily(REFUSED, refusals.samples()),
      ...breakerLines(senders),
      ...writeFamily(REPLIES, replies.samples()),
      ...writeFamily(SEGMENTS, [[[], sms.segments]]),
      ...writeFamily(RECEIVED_TEXTS, texts.samples()),
      ...writeFamily(TEXT_REPLIES, textReplies.samples()),
    ],
  };
}

function breakerLines({ own, process, kept }: SenderStates): readonly string[] {
  const others = kept.filter((one) => one.process !== process);
  return writeFamily(BREAKER, [
    ...own.map(({ name, health }): MetricSample => [[name, process], Number(hasStopped(health()))]),
    ...others.map((one): MetricSample => [[one.name, one.process], Number(one.state.state === "held")]),
  ]);
}

function gauge(name: string, help: string, labels: readonly string[] = []): Family {
  return { name: `surveyctl_${name}`, type: "gauge", help, labels };
}

function queueLines({ waiting, due, oldestDueSeconds, unknown }: DueQueue): readonly string[] {
  return [
    ...writeFamily(
      gauge("delivery_queue", "Surveys that are still to be sent, by state.", ["state"]),
      Object.entries(waiting).map(([state, count]) => [[state], count]),
    ),
    ...writeFamily(gauge("surveys_due", "Surveys that should be sent by now; at most 10,000 are counted."), [
      [[], due],
    ]),
    ...writeFamily(gauge("surveys_oldest_due_age_seconds", "How long the oldest due survey has waited."), [
      [[], oldestDueSeconds],
    ]),
    ...writeFamily(gauge("delivery_unknown", "Surveys that may or may not have arrived."), [[[], unknown]]),
  ];
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

/** Codes have three digits; anything else would create series at will. */
function replyLabels({ stage, code }: AttemptFacts): readonly string[] {
  return [stage, String(code !== null && code >= 200 && code <= 599 ? code : 0)];
}
