import type { JsonObject } from "../../../contract/json.ts";
import type { Properties } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project, TimeRange } from "../inputs.ts";
import type { ClaimKey, DeliveryState, OutgoingChannel } from "./queue-rows.ts";

export interface NewRequest {
  readonly personId: number;
  readonly channel: Channel;
  readonly autopilot: boolean;
  readonly createdAt: number;
  readonly scheduledAt: number;
  /** True if the person's row was inserted with `nextSurveyAt` already set to this time. */
  readonly isFirst?: boolean;
  readonly paused: boolean;
  readonly properties: Properties;
  readonly token: string;
  readonly unsubscribeToken: string;
}

export interface SurveyLink {
  readonly project: Project;
  readonly requestId: number;
  readonly personId: number;
  readonly channel: Channel;
  readonly unsubscribeToken: string;
  readonly properties: Properties;
  readonly sentAt: number | null;
  /** When the survey was first answered, even if the response has been deleted. */
  readonly answeredAt: number | null;
  readonly pageFacts: PageFacts;
  readonly responseId: number | null;
}

/** Visits to a survey's page, shown to operators and used to recognize programs. */
export interface PageFacts {
  readonly firstGetAt: number | null;
  readonly gets: number;
  readonly scores: readonly number[];
  readonly scoreAt: number | null;
  /** True if links with different scores were opened within one minute. */
  readonly manyScores: boolean;
  readonly headSeen: boolean;
  /** How the first answer was sent, and how many seconds after the survey. */
  readonly answeredBy: "script" | "button" | "text" | null;
  readonly answeredAfter: number | null;
}

export interface AttemptRow {
  /** Number of the attempt within its request, from 1. */
  readonly n: number;
  readonly at: number;
  /** Where the attempt ended: an `SmtpStage` such as `final-dot` for mail; otherwise `gateway`, `outbox`, … */
  readonly stage: string;
  readonly code: number | null;
  readonly enhancedCode: string | null;
  /** The reply's text, without our tokens: at most 500 characters, or 1,024 from an HTTP gateway. */
  readonly text: string | null;
  readonly host: string | null;
  readonly serverId: string | null;
  readonly ms: number;
  /** The message that was sent: the survey or its reminder. Null for reports. */
  readonly message: "survey" | "reminder" | null;
  /** A kind of `DeliveryOutcome`; for reports, `bounced`, `soft`, `failed`, `complaint` or the report's action. */
  readonly outcome: string;
}

export interface DeliveryRow extends ClaimKey {
  readonly personId: number;
  readonly channel: Channel;
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly autopilot: boolean;
  /** While its Autopilot is inactive, a survey is `scheduled`, and `reason` says why it waits. */
  readonly state: DeliveryState;
  readonly reason: string | null;
  readonly createdAt: number;
  /** When the message can be claimed. If it isn't pending, when it was scheduled. */
  readonly dueAt: number;
  readonly scheduledAt: number;
  /** Windows and limits change `scheduledAt`, but not this. */
  readonly plannedAt: number;
  readonly isAutopilotPaused: boolean;
  readonly sentAt: number | null;
  readonly transmittingAt: number | null;
  readonly attempts: number;
  readonly messageId: string | null;
  readonly pageFacts: PageFacts;
}

export type ReplyFacts = Pick<AttemptRow, "stage" | "code" | "enhancedCode">;

export interface SenderState {
  readonly state: "ready" | "waiting" | "held";
  /** The reply that stopped the sender; null while it is ready. */
  readonly reason: string | null;
  /** Codes from the same reply; undefined if they weren't stored. */
  readonly said?: ReplyFacts | null;
  readonly since: number | null;
  readonly nextProbeAt: number | null;
  readonly memory?: JsonObject;
}

export interface KeptSender {
  readonly name: string;
  readonly process: string;
  readonly savedAt: number;
  readonly state: SenderState;
}

/** `paused` means that the surveys' Autopilot is inactive. */
export interface SurveysAt {
  readonly state: DeliveryState | "paused";
  readonly reason?: string;
  readonly dueBy?: number;
  /** Selects held reminders instead of surveys. */
  readonly isReminder?: true;
  readonly personId?: number | null;
}

/** Ordered by scheduled time, then by id. */
export interface DuePage extends TimeRange {
  readonly order: "asc" | "desc";
  readonly after: { readonly at: number; readonly id: number } | null;
  readonly limit: number;
}

export interface ChannelQueue {
  readonly project: number;
  readonly channel: OutgoingChannel;
}

export interface Waiting {
  readonly channel: OutgoingChannel;
  readonly isAutopilot: boolean;
  readonly count: number;
  readonly dueAt: number;
}

/**
 * `logged`: recorded without consequences. `ignored`: not a report of a delivery. `unmatched`: not about our survey.
 * `repeated`: already recorded.
 */
export const REPORT_OUTCOMES = [
  "bounced",
  "unsubscribed",
  "soft",
  "logged",
  "ignored",
  "unmatched",
  "repeated",
] as const;
export type ReportOutcome = (typeof REPORT_OUTCOMES)[number];

/** Maximum number of reports per transaction; more would hold up other writes. */
export const REPORTS_MAX = 100;

export interface ReportedSurvey {
  readonly project: Project;
  readonly row: DeliveryRow;
  readonly secrets: readonly string[];
}

export type BounceEvidence = Pick<AttemptRow, "at" | "stage" | "code" | "enhancedCode" | "text">;

export interface SoftBouncer {
  readonly personId: number;
  readonly email: string | null;
  readonly count: number;
  readonly lastAt: number;
  readonly text: string | null;
}
