/** The queue of messages that leave: surveys, digests and replies to texts. See `Store` in `../ports.ts`. */
import type { JsonObject } from "../../../contract/json.ts";
import type { Properties } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project } from "../inputs.ts";
import type { QuietHours } from "../surveys/quiet-hours.ts";

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

/** Claims, leases and marks of messages of every kind. */
export interface QueueRows {
  dueProjects(queues: readonly Queue[]): Promise<DueProjects>;
  /** Claims what is due in a project on a channel, the earliest first. */
  claimDue(claim: Claim): Promise<readonly DueMessage[]>;
  /** The number of the channel's messages among the first `room` that are due. */
  countInTurn(shared: SharedRoom): Promise<number>;
  /** When the next unclaimed message, or the next lease, is due; null when nothing waits. */
  nextDueAt(queues: readonly Queue[]): Promise<number | null>;
  /** Notes that the process of this claimer lives, and returns all that were noted within `seconds`, by name. */
  beat(claimer: string, seconds: number): Promise<readonly string[]>;
  /** Those that were noted within `seconds`, by name. */
  living(seconds: number): Promise<readonly string[]>;
  /** Forgets a claimer that claims nothing more. */
  leave(claimer: string): Promise<void>;
  /** Lets the leases of these claims end at `dueAt`. */
  renewClaims(claims: readonly ClaimKey[], dueAt: number): Promise<void>;
  /** The projects in which others than these schedulers have claims, by id. */
  claimedProjects(living: readonly string[]): Promise<readonly number[]>;
  /**
   * Makes claims of others than these schedulers due again, but for those that are transmitting; null for those of all
   * projects. Returns how many.
   */
  releaseClaims(project: number | null, living: readonly string[]): Promise<number>;
  /** The messages that schedulers other than these were transmitting; null for those of all projects. */
  listTransmitting(project: number | null, living: readonly string[]): Promise<readonly DueMessage[]>;
  /** True while this claim is the message's, and not cancelled; null when it is not the message's any more. */
  isWanted(claim: ClaimKey): Promise<boolean | null>;
  /** Schedules the reminder of a survey, unless it has one. */
  addReminder(
    project: number,
    reminder: { readonly surveyId: number; readonly channel: Channel; readonly scheduledAt: number },
  ): Promise<void>;
  /** True when a later survey of the same person left, or may have. */
  hasNewerSurvey(project: number, surveyId: number): Promise<boolean>;
  /** The surveys of a project that left on a day, or may have, and those that are on their way. */
  countLeft(
    project: number,
    day: { readonly beginsAt: number; readonly nextAt: number },
  ): Promise<{ readonly sent: number; readonly leaving: number }>;
  /** The limit for a day of projects that have none of their own, as a server was told last; null for none. */
  dailyLimit(): Promise<number | null>;
  /** Surveys that wait for the old one may leave from now on. */
  setDailyLimit(limit: number | null): Promise<void>;
  /**
   * The hours without text messages, as a server was told last; null for none. They are taken off the windows of SMS.
   */
  quietHours(): Promise<QuietHours | null>;
  setQuietHours(hours: QuietHours | null): Promise<void>;
  /** Marks a claimed request as transmitting now; false when this claim is not the request's any more. */
  markTransmitting(claim: ClaimKey, frozen: FrozenMessage | null): Promise<boolean>;
  /**
   * Ends a claim, or changes a request that has none; false when it is not the request's any more. One that was
   * cancelled meanwhile stays so unless it ends as sent or bounced.
   */
  settle(claim: ClaimKey, change: DeliveryChange): Promise<boolean>;
  /** Surveys that were handed over, or were about to be, and went with their person; over all projects. */
  listErased(limit: number): Promise<readonly ErasedSurvey[]>;
  /** Says that nothing is left of these. */
  forgetErased(surveys: readonly ErasedSurvey[]): Promise<void>;
}

/** Stored with a survey that waits for Autopilot's sending window. */
export const WINDOW_REASON = "window";

/** A daily limit counts only surveys and reminders. */
export function isLimited(channel: OutgoingChannel): boolean {
  return channel !== "digest" && channel !== "reply";
}
