/** The rows of survey requests and of their deliveries. See `Store` in `../ports.ts`. */
import type { JsonObject } from "../../../contract/json.ts";
import type { Properties } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project, TimeRange } from "../inputs.ts";
import type { ClaimKey, DeliveryState, OutgoingChannel } from "./queue-rows.ts";

export interface NewRequest {
  readonly personId: number;
  readonly channel: Channel;
  /** Autopilot made it. */
  readonly autopilot: boolean;
  readonly createdAt: number;
  readonly scheduledAt: number;
  /** The person was inserted with this time as that of the next survey; absent: no. */
  readonly isFirst?: boolean;
  /** Kept, but not due: its Autopilot is inactive. */
  readonly paused: boolean;
  readonly properties: Properties;
  readonly token: string;
  /** Leads to the page that unsubscribes. */
  readonly unsubscribeToken: string;
}

/** The target of a message's link. */
export interface SurveyLink {
  readonly project: Project;
  readonly requestId: number;
  readonly personId: number;
  readonly channel: Channel;
  readonly unsubscribeToken: string;
  readonly properties: Properties;
  readonly sentAt: number | null;
  /** When it was first answered; a response that was deleted since changes nothing. */
  readonly answeredAt: number | null;
  readonly pageFacts: PageFacts;
  /** The response given already through this link. */
  readonly responseId: number | null;
}

/** The known visits to a survey's page: for the operator, and to tell programs from people. */
export interface PageFacts {
  readonly firstGetAt: number | null;
  readonly gets: number;
  /** The scores that links carried, in the order in which they were seen first. */
  readonly scores: readonly number[];
  /** When a link with a score was last opened. */
  readonly scoreAt: number | null;
  /** Links with different scores were opened within a minute. */
  readonly manyScores: boolean;
  readonly headSeen: boolean;
  /** The sender of the first answer, and its seconds after the message was sent. */
  readonly answeredBy: "script" | "button" | "text" | null;
  readonly answeredAfter: number | null;
}

/** One row of the log of attempts. */
export interface AttemptRow {
  /** Counted from 1 in its request. */
  readonly n: number;
  readonly at: number;
  /** The stage at which it ended: of mail an `SmtpStage`, such as `final-dot`; else `gateway`, `outbox`, … */
  readonly stage: string;
  /** The reply's code; null when there was none. */
  readonly code: number | null;
  /** Such as `5.1.1` (RFC 3463). */
  readonly enhancedCode: string | null;
  /** The other side's words. At most 500 characters are kept, of an answer over HTTP 1,024, without our tokens. */
  readonly text: string | null;
  readonly host: string | null;
  /** The other side's id of the message. */
  readonly serverId: string | null;
  /** The duration of the attempt. */
  readonly ms: number;
  /** A kind of `DeliveryOutcome`; of a report `bounced`, `soft`, `failed`, `complaint`, or its action. */
  readonly outcome: string;
}

/** A request as the operator sees it. */
export interface DeliveryRow extends ClaimKey {
  readonly personId: number;
  readonly channel: Channel;
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly autopilot: boolean;
  /** One whose Autopilot is inactive is scheduled, and has the reason. */
  readonly state: DeliveryState;
  readonly reason: string | null;
  readonly createdAt: number;
  /** When it is to be taken; of what is not waiting, when it was scheduled. */
  readonly dueAt: number;
  readonly scheduledAt: number;
  /** Its Autopilot is inactive. */
  readonly isAutopilotPaused: boolean;
  readonly sentAt: number | null;
  readonly transmittingAt: number | null;
  readonly attempts: number;
  readonly messageId: string | null;
  readonly pageFacts: PageFacts;
}

/** The stage at which a reply came, and its codes. */
export type ReplyFacts = Pick<AttemptRow, "stage" | "code" | "enhancedCode">;

/** The state that a sender keeps for its next start, and shows the operator. */
export interface SenderState {
  readonly state: "ready" | "waiting" | "held";
  /** The server's words; null while it is ready. */
  readonly reason: string | null;
  /** Of the same reply. Absent: not kept. */
  readonly said?: ReplyFacts | null;
  readonly since: number | null;
  readonly nextProbeAt: number | null;
  /** The part that only the sender itself reads. */
  readonly memory?: JsonObject;
}

export interface KeptSender {
  readonly name: string;
  /** The process that has it. */
  readonly process: string;
  /** When it was stored, Unix milliseconds. */
  readonly savedAt: number;
  readonly state: SenderState;
}

/** Surveys of one state of the store: `paused` are those whose Autopilot is inactive. */
export interface SurveysAt {
  readonly state: DeliveryState | "paused";
  /** Only those with this reason. */
  readonly reason?: string;
  /** Only those that are due by then, Unix seconds. */
  readonly dueBy?: number;
}

/** Reminders that are held: of one person, or with null of all. */
export interface RemindersAt {
  readonly remindersOf: number | null;
}

/** A page of a list by the time for which surveys were scheduled; surveys of the same time are in the order of ids. */
export interface DuePage extends TimeRange {
  readonly order: "asc" | "desc";
  /** The last row of the page before; null for the first page. */
  readonly after: { readonly at: number; readonly id: number } | null;
  readonly limit: number;
}

/** The messages of one project that leave on one channel. */
export interface ChannelQueue {
  readonly project: number;
  readonly channel: OutgoingChannel;
}

/** Surveys or reminders of one kind that should have left by now. */
export interface Waiting {
  readonly channel: OutgoingChannel;
  readonly isAutopilot: boolean;
  readonly count: number;
  /** When the first may be claimed. */
  readonly dueAt: number;
}

/**
 * The result of a report. `logged`: a survey of ours that nobody is blamed for; `ignored`: not a report; `unmatched`:
 * about no survey of ours; `repeated`: recorded before.
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

/** Reports that are recorded together: more would hold up other writes. */
export const REPORTS_MAX = 100;

/** A survey that a report is about. */
export interface ReportedSurvey {
  readonly project: Project;
  readonly row: DeliveryRow;
  /** Tokens of its message, which no log may show. */
  readonly secrets: readonly string[];
}

/** The reply with which an address bounced. */
export type BounceEvidence = Pick<AttemptRow, "at" | "stage" | "code" | "enhancedCode" | "text">;

/** An address that refuses surveys again and again for a passing reason. */
export interface SoftBouncer {
  readonly personId: number;
  readonly email: string | null;
  /** The number of the last surveys that it refused. */
  readonly count: number;
  /** The last refusal. */
  readonly lastAt: number;
  readonly text: string | null;
}
