import type { JsonObject } from "../../../contract/json.ts";
import type { Properties } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project } from "../inputs.ts";

/**
 * `failed` was given up, `held` waits for the operator, `unknown` was transmitted without a reply. None of these counts
 * against the person.
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

/** Values chosen when a message is first rendered, and reused by every later attempt. */
export interface FrozenMessage {
  readonly messageId: string;
  /** The part of the envelope sender that identifies bounces, or null. */
  readonly bounceToken: string | null;
  readonly values: JsonObject;
}

/** A claim of a request or, if `claimer` is null, the request between two claims. */
export interface ClaimKey {
  readonly project: Pick<Project, "id">;
  readonly requestId: number;
  readonly claimer: string | null;
  /** The number of claims so far, including this one. */
  readonly claims: number;
}

/**
 * Surveys have one queue per channel. Reminders, digests and replies have separate ones, so that they don't wait for a
 * mailing to finish.
 */
export type OutgoingChannel = Channel | ReminderQueue | "digest" | "reply";

export type ReminderQueue = "reminder" | "sms-reminder";

/** `requestId` is its number in the queue, whatever its kind. */
interface ClaimedMessage extends ClaimKey {
  readonly project: Project;
  readonly scheduledAt: number;
  /** Number of previous attempts, excluding claims that were given back. */
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

/** A digest for one week, which `scheduledAt` determines. */
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
  /** The properties as requested; `readSpecialProperties` interprets them. */
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
    /** Unix seconds. If the message was resent, the first attempt may have arrived. */
    readonly firstAttemptAt: number | null;
    readonly frozen: FrozenMessage | null;
  };
}

export type DueQuestion = DueSurvey | DueReminder;

/** A deleted or cancelled survey whose message may still exist somewhere. */
export type ErasedSurvey = Pick<DueSurvey, "requestId" | "channel" | "token"> & {
  readonly project: Pick<Project, "id">;
};

export interface Claim {
  readonly project: number;
  readonly claimer: string;
  readonly channel: OutgoingChannel;
  /** After this time, an unfinished claim that isn't renewed is due again. */
  readonly leaseSeconds: number;
  readonly limit: number;
  /** Claims in the order of `SharedRoom` rather than earliest first. */
  readonly isInTurn?: boolean;
}

/** Order of a project's messages under a daily limit: Autopilot's surveys last, each by its first planned time. */
export interface SharedRoom {
  readonly project: number;
  readonly channel: OutgoingChannel;
  readonly channels: readonly OutgoingChannel[];
  readonly room: number;
}

export interface FoundMessage {
  readonly due: DueMessage;
  readonly state: string;
  /** False for a survey of an Autopilot that is switched off. */
  readonly isActive: boolean;
}

export interface ClaimedState {
  readonly state: DeliveryState;
  readonly sentAt: number | null;
  /** Null for a digest or reply. */
  readonly personId: number | null;
  readonly reason: string | null;
}

export interface DeliveryChange {
  readonly state: DeliveryState;
  readonly dueAt: number | null;
  /** Sets when the message's age begins; undefined keeps it. */
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
