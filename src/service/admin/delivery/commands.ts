/**
 * The commands of `service delivery`, `service pause` and `service resume`, and their answers.
 */
import type { SurveyStatusName } from "../../../contract/text/survey-status.ts";
import type { ListedReason, ListedState } from "../../domain/delivery/lists/listed.ts";
import type { DeliveryState } from "../../domain/delivery/queue-rows.ts";

export type DeliveryCommand =
  /** One page, by the time for which surveys were scheduled. `after` is the `next` of the page before. */
  | ({ readonly kind: "delivery.list" } & DeliveryPageCommand)
  /** The same as numbers for each day of the project's zone. */
  | ({ readonly kind: "delivery.days" } & DeliveryPageCommand)
  /** By e-mail address or phone number. */
  | { readonly kind: "delivery.show"; readonly project: string; readonly email: string }
  | { readonly kind: "delivery.status" }
  | {
      readonly kind: "delivery.resolve";
      readonly project: string;
      readonly id: string;
      readonly as: "sent" | "resend";
    }
  | { readonly kind: "delivery.resume" }
  /** Without a project: all of them. */
  | { readonly kind: "pause"; readonly project?: string; readonly paused: boolean };

interface DeliveryPageCommand {
  readonly project: string;
  readonly state?: ListedState;
  readonly reason?: ListedReason;
  /** Of one person: an e-mail address or a phone number. */
  readonly email?: string;
  /** Unix seconds, included. */
  readonly since?: number;
  readonly until?: number;
  /** Absent: `desc`, newest first. */
  readonly order?: "asc" | "desc";
  readonly after?: string;
  readonly limit: number;
}

export interface DeliveryInfo {
  readonly id: string;
  readonly channel: string;
  readonly email: string | null;
  readonly phone_number: string | null;
  readonly state: ListedState;
  /** The reason why it is not sent, or not yet. */
  readonly reason: string | null;
  readonly due_at: number;
  readonly sent_at: number | null;
  readonly attempts: number;
}

/** A day with the number of surveys in each state. */
export type DeliveryDayInfo = { readonly day: string; readonly surveys: number } & Readonly<
  Record<ListedState, number>
>;

export interface AttemptInfo {
  readonly n: number;
  readonly at: number;
  readonly outcome: string;
  readonly stage: string;
  readonly code: number | null;
  readonly enhanced_code: string | null;
  readonly text: string | null;
  readonly remote_host: string | null;
  readonly server_id: string | null;
  readonly ms: number;
}

/** The known visits to a survey's page. */
export interface PageInfo {
  readonly first_get_at: number | null;
  readonly gets: number;
  /** Those that links carried, in the order in which they were seen first. */
  readonly scores: readonly number[];
  readonly head_seen: boolean;
  readonly answered_by: "script" | "button" | "text" | null;
  /** Seconds from sending to the first answer. */
  readonly answered_after: number | null;
}

export interface HistoryInfo {
  /** Null when nobody has the address. */
  readonly id: string | null;
  readonly email: string | null;
  readonly phone_number: string | null;
  readonly explanation: string;
  readonly unsubscribed_at: number | null;
  readonly bounced_at: number | null;
  /** Since when the number gets no text messages. */
  readonly sms_unsubscribed_at: number | null;
  readonly last_sent_at: number | null;
  readonly next_survey_scheduled_at: number | null;
  /** Newest first. */
  readonly surveys: readonly (DeliveryInfo & {
    readonly message_id: string | null;
    /** Null while nobody has opened the survey's page. */
    readonly page: PageInfo | null;
    readonly log: readonly AttemptInfo[];
  })[];
  /** Surveys that were asked for and not scheduled, newest first. */
  readonly not_scheduled: readonly UnscheduledInfo[];
}

export interface UnscheduledInfo {
  readonly at: number;
  readonly channel: string;
  readonly reason: SurveyStatusName;
  /** As `SurveyStatus` has both. */
  readonly since: number | null;
  readonly until: number | null;
}

/** The number of surveys of all projects in each state, and the reason that holds them up. */
type StatusInfo = Readonly<Record<DeliveryState, number>> & {
  readonly oldest_due_at: number | null;
  /** Null while surveys are sent. */
  readonly paused_at: number | null;
  /** Names of projects that are paused on their own. */
  readonly paused_projects: readonly string[];
  readonly projects: readonly BudgetInfo[];
  readonly senders: readonly SenderInfo[];
};

/** A project's limit for the day of its zone; null for none. */
export interface BudgetInfo {
  readonly project: string;
  readonly daily_limit: number | null;
  readonly sent_today: number;
  /** Surveys and reminders that should have left by now. */
  readonly waiting: number;
  /** The next moment at which one of them can leave; null where one can now, or none waits. */
  readonly waiting_until: number | null;
}

export interface SenderInfo {
  readonly name: string;
  /** The process that it is part of, of several on one store. */
  readonly process: string;
  readonly state: "ready" | "waiting" | "held";
  /** Of the reply that it waits or is held for, as are the words. */
  readonly stage: string | null;
  readonly code: number | null;
  readonly enhanced_code: string | null;
  readonly reason: string | null;
  readonly since: number | null;
  readonly next_probe_at: number | null;
}

export interface DeliveryResults {
  "delivery.list": { readonly rows: readonly DeliveryInfo[]; readonly next: string | null };
  "delivery.days": { readonly rows: readonly DeliveryDayInfo[]; readonly next: string | null };
  "delivery.show": HistoryInfo;
  "delivery.status": StatusInfo;
  "delivery.resolve": DeliveryInfo;
  "delivery.resume": { readonly released: number };
  pause: { readonly project: string | null; readonly paused_at: number | null };
}
