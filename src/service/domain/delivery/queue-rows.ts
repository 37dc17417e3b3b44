/** The queue of messages that leave: surveys, digests and replies to texts. See `Store` in `../ports.ts`. */
import type { JsonObject } from "../../../contract/json.ts";
import type { Properties } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project } from "../inputs.ts";

/**
 * `failed` is given up without blame, `held` waits for the operator, `unknown` was transmitted and had no reply. None
 * of the three touches the person.
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

/** The choices of a message's first rendering, which every later attempt repeats. */
export interface FrozenMessage {
  /** Without `<>`. */
  readonly messageId: string;
  /** The part of the envelope's sender by which a bounce is known; null without one. */
  readonly bounceToken: string | null;
  readonly values: JsonObject;
}

/** One claim of a request, or with `claimer` null the request between two claims. A later claim is another one. */
export interface ClaimKey {
  readonly project: Pick<Project, "id">;
  readonly requestId: number;
  readonly claimer: string | null;
  /** The number of claims, this one included. */
  readonly claims: number;
}

/**
 * Surveys leave by e-mail or as texts. Reminders, digests, and replies to texts, have channels of their own, so that
 * none waits for a mailing to end.
 */
export type OutgoingChannel = Channel | ReminderQueue | "digest" | "reply";

export type ReminderQueue = "reminder" | "sms-reminder";

/** A message that a scheduler has claimed. Its `requestId` is a number of the queue, of whatever kind it is. */
interface ClaimedMessage extends ClaimKey {
  readonly project: Project;
  readonly scheduledAt: number;
  /** The number of earlier attempts of the message; claims that were given back are none. */
  readonly attempts: number;
  readonly firstAttemptAt: number | null;
  readonly frozen: FrozenMessage | null;
}

export type DueMessage = DueSurvey | DueReminder | DueDigest | DueReply;

export interface DigestSchedule {
  /** 0 is Sunday. */
  readonly weekday: number;
  /** Of the day, 0 to 1439. */
  readonly minute: number;
  /** IANA name; null follows the project's. */
  readonly zone: string | null;
}

/** A week of a digest: `scheduledAt` is the time of its schedule, which says what it tells of. */
export interface DueDigest extends ClaimedMessage, DigestSchedule {
  readonly channel: "digest";
  readonly digestId: number;
  readonly email: string;
  readonly allowPrivate: boolean;
  readonly token: string;
  readonly createdAt: number;
  /** The time of the schedule that the week before was for; null for the first one. */
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
  /** As given on the request; `readSpecialProperties` gives their meaning. */
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
    /** Unix seconds: one that was sent again may have arrived then. */
    readonly firstAttemptAt: number | null;
    readonly frozen: FrozenMessage | null;
  };
}

export type DueQuestion = DueSurvey | DueReminder;

/** A survey that is gone or cancelled, while its message may still lie somewhere. */
export type ErasedSurvey = Pick<DueSurvey, "requestId" | "channel" | "token"> & {
  readonly project: Pick<Project, "id">;
};

export interface Claim {
  readonly project: number;
  readonly claimer: string;
  readonly channel: OutgoingChannel;
  /** A claim that is neither finished nor renewed within this time is found again. */
  readonly leaseSeconds: number;
  readonly limit: number;
  /** The order of `SharedRoom`; absent: what is due first. */
  readonly isInTurn?: boolean;
}

/**
 * The place of a channel's messages among those of a project whose day has room for few: surveys of Autopilot after all
 * others, and each by the moment that it was first planned for, whatever put it off.
 */
export interface SharedRoom {
  readonly project: number;
  readonly channel: OutgoingChannel;
  /** Those that share the room, `channel` among them. */
  readonly channels: readonly OutgoingChannel[];
  readonly room: number;
}

export interface DeliveryChange {
  readonly state: DeliveryState;
  /** When a scheduler may take it again; null for not at all. */
  readonly dueAt: number | null;
  /** When its age begins; absent: that stays. */
  readonly scheduledAt?: number;
  /** When it was sent; null leaves that as it is. */
  readonly sentAt: number | null;
  readonly reason: string | null;
  readonly isAttempt: boolean;
}

/** The messages of a channel. */
export interface Queue {
  readonly channel: OutgoingChannel;
  /** Those of paused projects are left out unless they count. */
  readonly withPaused: boolean;
}

/** The projects that have something due on a channel, by id. */
export type DueProjects = ReadonlyMap<OutgoingChannel, readonly number[]>;

/** Stored with a survey that waits for Autopilot's sending window. */
export const WINDOW_REASON = "window";

/** A daily limit counts only surveys and reminders. */
export function isLimited(channel: OutgoingChannel): boolean {
  return channel !== "digest" && channel !== "reply";
}
