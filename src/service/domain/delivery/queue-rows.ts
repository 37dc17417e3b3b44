import type { JsonObject } from "../../../contract/json.ts";
import type { Properties } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project } from "../inputs.ts";

/**
 * `failed` is given up, `held` waits for the operator, `unknown` got no reply. None of these three affects the person.
 */
export const DELIVERY_STATES = [
  "scheduled",
  "claimed",
  "transmitting",
  "sent",
  "retrying",
  "held",
  "unknown",
  "bounced",
  "failed",
  "cancelled",
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
export const WAITING_STATES: readonly DeliveryState[] = ["scheduled", "claimed", "transmitting", "retrying", "held"];

/** Values chosen when a message is first rendered, which all later attempts reuse. */
export interface FrozenMessage {
  readonly messageId: string;
  readonly bounceToken: string | null;
  readonly values: JsonObject;
}

/** Identifies a claim of a request or, if `claimer` is null, the unclaimed request. */
export interface ClaimKey {
  readonly project: Pick<Project, "id">;
  readonly requestId: number;
  readonly claimer: string | null;
  /** The number of claims so far, including this one. */
  readonly claims: number;
}

/** Reminders, digests and replies have separate queues, so that they don't wait for a large mailing. */
export type OutgoingChannel = Channel | ReminderQueue | "digest" | "reply";

export type ReminderQueue = "reminder" | "sms-reminder";

/** `requestId` is the message's id, for every kind of message. */
interface ClaimedMessage extends ClaimKey {
  readonly project: Project;
  readonly scheduledAt: number;
  /** Number of previous attempts, not counting claims that were released. */
  readonly attempts: number;
  readonly firstAttemptAt: number | null;
  readonly frozen: FrozenMessage | null;
}

export type DueMessage = DueSurvey | DueReminder | DueDigest | DueReply;

export interface DigestSchedule {
  readonly weekday: number;
  /** Minute of the day, 0 to 1439. */
  readonly minute: number;
  readonly zone: string | null;
}

export interface DueDigest extends ClaimedMessage, DigestSchedule {
  readonly channel: "digest";
  readonly digestId: number;
  readonly email: string;
  readonly allowPrivate: boolean;
  readonly token: string;
  readonly createdAt: number;
  readonly previousAt: number | null;
  readonly reason: string | null;
}

export type ReplyKind = "ask-comment" | "thanks" | "ask-again" | "unclear" | "help" | "stopped" | "started";

export interface DueReply extends ClaimedMessage {
  readonly channel: "reply";
  readonly kind: ReplyKind;
  readonly score: number | null;
  readonly createdAt: number;
  readonly phoneNumber: string | null;
  readonly token: string;
  readonly properties: Properties;
}

export interface DueSurvey extends ClaimedMessage {
  readonly channel: Channel;
  readonly autopilot: boolean;
  readonly token: string;
  readonly unsubscribeToken: string;
  readonly properties: Properties;
  readonly person: {
    readonly id: number;
    readonly email: string | null;
    readonly name: string | null;
    readonly phoneNumber: string | null;
  };
}

export interface DueReminder extends Omit<DueSurvey, "channel" | "autopilot"> {
  readonly channel: ReminderQueue;
  readonly survey: {
    readonly requestId: number;
    readonly channel: Channel;
    readonly autopilot: boolean;
    readonly sentAt: number | null;
    /** Unix seconds. If the survey was resent, the first attempt may have arrived. */
    readonly firstAttemptAt: number | null;
    readonly frozen: FrozenMessage | null;
  };
}

export type DueQuestion = DueSurvey | DueReminder;

/** A deleted or cancelled survey whose message may still be in an outbox. */
export type ErasedSurvey = Pick<DueSurvey, "requestId" | "channel" | "token"> & {
  readonly project: Pick<Project, "id">;
};

export interface Claim {
  readonly project: number;
  readonly claimer: string;
  readonly channel: OutgoingChannel;
  /** An unfinished claim that isn't renewed within this time is due again. */
  readonly leaseSeconds: number;
  readonly limit: number;
  /** Claims messages in the order that `SharedRoom` describes, instead of earliest first. */
  readonly isInTurn?: boolean;
}

/**
 * Room for messages of several channels under a project's daily limit. It is filled by first planned time, with
 * Autopilot's surveys last.
 */
export interface SharedRoom {
  readonly project: number;
  readonly channel: OutgoingChannel;
  readonly channels: readonly OutgoingChannel[];
  readonly room: number;
}

export interface FoundMessage {
  readonly due: DueMessage;
  readonly state: string;
  /** False for a survey whose Autopilot is switched off. */
  readonly isActive: boolean;
}

export interface ClaimedState {
  readonly state: DeliveryState;
  readonly sentAt: number | null;
  /** Null for digests and replies. */
  readonly personId: number | null;
  readonly reason: string | null;
}

export interface DeliveryChange {
  readonly state: DeliveryState;
  readonly dueAt: number | null;
  /** The time from which the message's age counts; undefined doesn't change it. */
  readonly scheduledAt?: number;
  readonly sentAt: number | null;
  readonly reason: string | null;
  readonly isAttempt: boolean;
}

export interface Queue {
  readonly channel: OutgoingChannel;
  readonly withPaused: boolean;
}

export type DueProjects = ReadonlyMap<OutgoingChannel, readonly number[]>;

export const WINDOW_REASON = "window";

export function isLimited(channel: OutgoingChannel): boolean {
  return channel !== "digest" && channel !== "reply";
}
