/** The rows of survey requests and of their deliveries. See `Store` in `../ports.ts`. */
import type { JsonObject } from "../../../contract/json.ts";
import type { Properties } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project, TimeRange } from "../inputs.ts";
import type { ClaimKey, DeliveryState, OutgoingChannel, ReminderQueue } from "./queue-rows.ts";

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
  /** Leads to the page that answers it. */
  readonly token: string;
  /** Leads to the page that unsubscribes. */
  readonly unsubscribeToken: string;
}

/** Survey requests. Each method keeps the person's `nextSurveyAt` true. */
export interface RequestRows {
  /** The new request's id. */
  insert(project: number, request: NewRequest): Promise<number>;
  /** Replaces the properties of one that waits. */
  setProperties(project: number, id: number, properties: Properties): Promise<void>;
  /**
   * Cancels a person's waiting requests: of one channel (null: all), and only Autopilot's or only the others (null:
   * both). One that is claimed at this moment is finished by its claimer, but never found again; one that is
   * transmitting is left alone. `reason` is kept. Returns how many it cancelled.
   */
  cancel(
    project: number,
    personId: number,
    which: { readonly channel: Channel | null; readonly autopilot: boolean | null; readonly reason?: string },
  ): Promise<number>;
  /** When the person's last Autopilot survey on the channel was sent; now for one on its way, null for none. */
  lastAutopilotAt(project: number, personId: number, channel: Channel): Promise<number | null>;
  /** When the person's next survey outside Autopilot is due; null where none waits. */
  nextSingleAt(project: number, personId: number): Promise<number | null>;
  countSent(project: number, channel: Channel | ReminderQueue, range: TimeRange): Promise<number>;
  /** Of the surveys that were sent in the range, those that were answered, whenever that was. */
  countAnswered(project: number, channel: Channel, range: TimeRange): Promise<number>;
  /** Notes that a survey has been answered now; of one that was answered before, nothing. */
  noteAnswer(survey: Pick<SurveyLink, "project" | "requestId" | "channel" | "sentAt" | "answeredAt">): Promise<void>;
  /** The properties of the person's next survey on the channel; null if none waits. */
  waitingProperties(project: number, personId: number, channel: Channel): Promise<Properties | null>;
  /** The survey that a link names, in whichever project; null when there is none. */
  byToken(token: string): Promise<SurveyLink | null>;
  /** The survey whose unsubscribe link this is; the answering token is not. */
  byUnsubscribeToken(token: string): Promise<SurveyLink | null>;
  setPageFacts(project: number, id: number, facts: PageFacts): Promise<void>;
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

/** The facts that operators and senders keep next to the requests. */
export interface DeliveryRows {
  listBySchedule(project: number, which: SurveysAt | RemindersAt, page: DuePage): Promise<readonly DeliveryRow[]>;
  countBySchedule(
    project: number,
    which: SurveysAt | { readonly remindersOf: null },
    range: TimeRange,
  ): Promise<number>;
  /** Newest first. */
  ofPerson(project: number, personId: number, limit: number): Promise<readonly DeliveryRow[]>;
  byId(project: number, id: number): Promise<DeliveryRow | null>;
  /** When a survey that may have arrived was last transmitted to the person, also one that was sent again; or null. */
  lastUnknownAt(project: number, personId: number): Promise<number | null>;
  /** The number of surveys of each project in each state, and of reminders that are held. */
  counts(): Promise<readonly { readonly project: number; readonly state: DeliveryState; readonly count: number }[]>;
  /** Those of a project that are due, and those that were put off beyond the moment for which they were planned. */
  waiting(project: number): Promise<readonly Waiting[]>;
  /**
   * Makes surveys and reminders that are held due now, the oldest of a project first. Those held as overdue count as
   * scheduled now, or stay as they are. Returns how many; less than the limit: all.
   */
  releaseHeld(limit: number, overdue: { readonly reason: string; readonly areReleased: boolean }): Promise<number>;
  /**
   * Makes surveys and reminders that wait for a reason due again, each at its own time: of one channel, or with null of
   * both. Those that wait for more than two days are not found. Returns how many; less than the limit: all.
   */
  releasePutOff(limit: number, channel: Channel | null): Promise<number>;
  /**
   * The number of messages of these queues that wait and were scheduled and due before `before`; counts no further than
   * `limit`.
   */
  countOverdue(
    queues: readonly ChannelQueue[],
    due: { readonly since?: number; readonly before: number },
    limit: number,
  ): Promise<number>;
  /** Holds such messages, some at a time. Returns how many; less than the limit: all. */
  holdOverdue(
    queues: readonly ChannelQueue[],
    before: number,
    hold: { readonly reason: string; readonly limit: number },
  ): Promise<number>;
  log(project: number, requestId: number, attempt: Omit<AttemptRow, "n">): Promise<void>;
  /** In order, the last ones. */
  attempts(project: number, requestId: number, limit: number): Promise<readonly AttemptRow[]>;
  /**
   * Deletes rows from before `before`, but for what made somebody bounce. Returns how many; less than the limit: all.
   */
  pruneAttempts(before: number, limit: number): Promise<number>;
  /** Since when nothing is sent at all; null while mail goes out. */
  pausedAt(): Promise<number | null>;
  /** Since when nothing is sent in a project, because it or everything is paused; null while mail goes out. */
  pausedSince(project: number): Promise<number | null>;
  /**
   * The reason why all is paused, where the service itself has paused it; null where an operator has, or nothing is
   * paused.
   */
  pauseReason(): Promise<string | null>;
  setPaused(at: number | null, reason?: string): Promise<void>;
  /** When an operator last let all be sent again; null for never. */
  resumedAt(): Promise<number | null>;
  setResumed(at: number): Promise<void>;
  /** The states of senders, the newest first. */
  senders(): Promise<readonly KeptSender[]>;
  setSender(kept: KeptSender): Promise<void>;
  /** When an operator last had all senders try again, Unix milliseconds; null for never. */
  sendersResumedAt(): Promise<number | null>;
  setSendersResumed(at: number): Promise<void>;
  /** The messages that may leave at once by this name, and the time of that count, Unix milliseconds. */
  bucket(name: string): Promise<{ readonly level: number; readonly at: number } | null>;
  setBucket(name: string, bucket: { readonly level: number; readonly at: number }): Promise<void>;
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

/** Reports that came back of surveys, and the secrets of those who may report. */
export interface ReportRows {
  /** Notes a report; false when it was noted before. */
  note(source: string, id: string): Promise<boolean>;
  /** Forgets reports noted before `before`. Returns how many; less than the limit: all. */
  prune(before: number, limit: number): Promise<number>;
  /** The survey whose envelope sender had this token, in whichever project. */
  byToken(token: string): Promise<ReportedSurvey | null>;
  byMessageId(messageId: string): Promise<ReportedSurvey | null>;
  /**
   * The newest survey that was mailed since then, or its reminder, to the person who has this address now, in whichever
   * project.
   */
  lastMailed(email: string, since: number): Promise<ReportedSurvey | null>;
  /** The number of the person's last `window` mailed surveys since their last answer that were refused softly. */
  countSoft(project: number, personId: number, window: number): Promise<number>;
  /** People with at least so many soft refusals, by id. */
  listSoft(
    project: number,
    which: { readonly after: number; readonly limit: number; readonly window: number; readonly least: number },
  ): Promise<readonly SoftBouncer[]>;
  /** Lets the person's soft refusals count no more. */
  forgetSoft(project: number, personId: number): Promise<void>;
  /** Null when nothing was kept. */
  lastBounce(project: number, personId: number): Promise<BounceEvidence | null>;
  /** As `setBounceAddress` was told last. Of the whole store. */
  bounceAddress(): Promise<string | null>;
  setBounceAddress(address: string | null): Promise<void>;
  /** Null when there is none. */
  secret(name: string): Promise<string | null>;
  /** Null removes it. */
  setSecret(name: string, value: string | null): Promise<void>;
}
