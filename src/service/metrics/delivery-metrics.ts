/** Metrics of deliveries. They must not contain addresses or tokens. */
import type { Channel } from "../../contract/routes.ts";
import { Counter, Histogram, type MetricSample, writeGauge } from "../../runtime/metrics.ts";
import type { QueueSummary } from "../domain/delivery/oversight.ts";
import type { OutgoingChannel } from "../domain/delivery/queue-rows.ts";
import { type KeptSender, REPORT_OUTCOMES, type ReportOutcome } from "../domain/delivery/rows.ts";
import { TEXT_OUTCOMES, type TextOutcome } from "../domain/sms/receive-text.ts";
import type { HookRefusal } from "../delivery/hook-replies.ts";
import { HOOK_SOURCES } from "../domain/delivery/hook-secrets.ts";
import { SMTP_STAGES } from "../delivery/smtp/smtp-types.ts";
import { hasStopped, type SenderHealth } from "../sending/pacing/sender-health.ts";
import type { AttemptFacts, DeliveryResult, OutcomeKind } from "../domain/delivery/sender.ts";

export interface DueQueue extends QueueSummary {
  readonly due: number;
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

const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300] as const;
const REPLY_OUTCOMES = ["sent", "retry", "failed", "unknown", "dropped"] as const;

export class DeliveryMetrics {
  readonly #outcomes = new Counter(
    { name: "surveyctl_delivery_total", help: "Deliveries, by how they ended.", labels: ["channel", "outcome"] },
    CHANNELS.flatMap((channel) => KINDS.map((kind) => [channel, kind])),
  );
  readonly #durations = new Histogram(
    {
      name: "surveyctl_delivery_duration_seconds",
      help: "Time from a survey's claim to the end of its delivery.",
      labels: ["channel"],
    },
    DURATION_BUCKETS,
  );
  readonly #reports = new Counter(
    {
      name: "surveyctl_reports_total",
      help: "Bounce and complaint reports, by outcome.",
      labels: ["source", "outcome"],
    },
    ["mail", ...HOOK_SOURCES].flatMap((source) => REPORT_OUTCOMES.map((outcome) => [source, outcome])),
  );
  readonly #refusals = new Counter(
    { name: "surveyctl_hook_refusals_total", help: "Requests to hooks that were refused.", labels: ["reason"] },
    [["secret"], ["signature"], ["body"]] satisfies readonly (readonly HookRefusal[])[],
  );
  readonly #smtpReplies = new Counter({
    name: "surveyctl_smtp_reply_total",
    help: "Mail by the last reply to it; code 0 for no reply.",
    labels: ["stage", "code"],
  });
  readonly #segments = new Counter(
    { name: "surveyctl_sms_segments_total", help: "Segments of text messages that went out, or may have." },
    [[]],
  );
  readonly #texts = new Counter(
    { name: "surveyctl_sms_received_total", help: "Incoming text messages, by outcome.", labels: ["outcome"] },
    TEXT_OUTCOMES.map((outcome) => [outcome]),
  );
  readonly #textReplies = new Counter(
    {
      name: "surveyctl_sms_replies_total",
      help: "Attempts to reply to text messages, by how they ended.",
      labels: ["outcome"],
    },
    REPLY_OUTCOMES.map((outcome) => [outcome]),
  );

  /** `seconds` is the time from claim to outcome. */
  count({ channel }: { readonly channel: OutgoingChannel }, result: DeliveryResult, seconds: number): void {
    const { kind, attempt = null, segments = 0 } = result;
    this.#segments.add([], segments);
    if (channel === "digest") return;
    if (channel === "reply") return this.#countTextReply(kind);
    this.#outcomes.add([channel, kind]);
    this.#durations.observe(seconds, [channel]);
    if (channel === "email" && attempt !== null && SMTP_STAGES.some((stage) => stage === attempt.stage))
      this.#smtpReplies.add(replyLabels(attempt));
  }

  #countTextReply(kind: OutcomeKind): void {
    const outcome = REPLY_OUTCOMES.find((one) => one === (kind === "cancelled" ? "dropped" : kind));
    if (outcome !== undefined) this.#textReplies.add([outcome]);
  }

  countReport(source: string, outcome: ReportOutcome): void {
    this.#reports.add([source, outcome]);
  }

  countText(outcome: TextOutcome): void {
    this.#texts.add([outcome]);
  }

  /** A request to a hook that was neither a report nor a text message. */
  countRefusal(why: HookRefusal): void {
    this.#refusals.add([why]);
  }

  /** `queue` is null if the store didn't respond; the result then has only the counts of this process. */
  lines(queue: DueQueue | null, senders: SenderStates): readonly string[] {
    return [
      ...this.#outcomes.lines(),
      ...this.#durations.lines(),
      ...(queue === null ? [] : queueLines(queue)),
      ...this.#reports.lines(),
      ...this.#refusals.lines(),
      ...breakerLines(senders),
      ...this.#smtpReplies.lines(),
      ...this.#segments.lines(),
      ...this.#texts.lines(),
      ...this.#textReplies.lines(),
    ];
  }
}

function breakerLines({ own, process, kept }: SenderStates): readonly string[] {
  const others = kept.filter((one) => one.process !== process);
  return writeGauge(
    {
      name: "surveyctl_delivery_breaker",
      help: "1 while the sender is stopped by refusals of its server.",
      labels: ["sender", "process"],
    },
    [
      ...own.map(({ name, health }): MetricSample => [[name, process], Number(hasStopped(health()))]),
      ...others.map((one): MetricSample => [[one.name, one.process], Number(one.state.state === "held")]),
    ],
  );
}

function queueLines({ waiting, due, oldestDueSeconds, unknown }: DueQueue): readonly string[] {
  const states = Object.entries(waiting).map(([state, count]): MetricSample => [[state], count]);
  const queueHelp = "Surveys that are still to be sent, by state.";
  const dueHelp = "Surveys that should be sent by now; at most 10,000 are counted.";
  const oldestHelp = "How long the oldest due survey has waited.";
  return [
    ...writeGauge({ name: "surveyctl_delivery_queue", help: queueHelp, labels: ["state"] }, states),
    ...writeGauge({ name: "surveyctl_surveys_due", help: dueHelp }, due),
    ...writeGauge({ name: "surveyctl_surveys_oldest_due_age_seconds", help: oldestHelp }, oldestDueSeconds),
    ...writeGauge({ name: "surveyctl_delivery_unknown", help: "Surveys that may or may not have arrived." }, unknown),
  ];
}

/** Unexpected codes become 0, because each label value creates a series. */
function replyLabels({ stage, code }: AttemptFacts): readonly string[] {
  return [stage, String(code !== null && code >= 200 && code <= 599 ? code : 0)];
}
