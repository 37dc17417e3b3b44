/** The input of the rules: parameters that the HTTP layer has parsed into their final types. */
import type { AdditionalAnswer, Platform, Properties } from "../../contract/resources.ts";
import type { Channel, Expansion, METRIC_GROUPS, ResponseOrder } from "../../contract/routes.ts";
import type { TimeRange } from "../sql/lists/fragments.ts";
import type { TextsByQuestion } from "./questions/answer-texts.ts";

export type { TimeRange };

export interface Project {
  readonly id: number;
  readonly name: string;
}

export type MetricGroup = (typeof METRIC_GROUPS)[number];

/** 4.1. Not both `email` and `phoneNumber`. */
export interface PeopleQuery extends TimeRange {
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly withProperties: boolean;
  /** Null: everyone. */
  readonly ids?: readonly string[] | null;
  readonly perPage: number;
  /** The opaque position that the previous page returned; null for the first page. */
  readonly after: string | null;
}

/** 4.2. Absent is null. `name` null leaves the stored name alone. */
export interface SendInput {
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly channel: Channel;
  readonly name: string | null;
  readonly delaySeconds: number;
  /** Merged into those of the person; null changes nothing. */
  readonly properties: Properties | null;
  /** `properties` are all that the person has from now on. */
  readonly replaceProperties: boolean;
  readonly send: boolean;
  readonly lastSentAt: number | null;
  readonly emailUpdate: string | null;
  readonly phoneNumberUpdate: string | null;
}

/** Those of whom it is asked whether they would be sent a survey. */
export type StatusInput = Pick<SendInput, "email" | "phoneNumber" | "channel" | "lastSentAt" | "delaySeconds">;

/** 4.3 */
export interface ResponsesQuery extends TimeRange {
  readonly updatedSince: number | null;
  readonly updatedUntil: number | null;
  readonly trend: string | null;
  readonly personId: string | null;
  readonly personEmail: string | null;
  readonly order: ResponseOrder;
  readonly expand: ReadonlySet<Expansion>;
  readonly page: number;
  readonly perPage: number;
}

/** 4.4 */
export interface ResponseInput {
  readonly personId: string;
  readonly score: number;
  readonly comment: string | null;
  readonly personProperties: Properties;
  readonly createdAt: number | null;
  /** Absent: none. Collected elsewhere, in the API's form, or as one text for each question. */
  readonly additionalAnswers?: readonly AdditionalAnswer[];
  readonly answers?: TextsByQuestion;
}

/** `PUT /v1/survey_responses/{id}`: undefined leaves a field alone, null empties it. */
export interface ResponseChange {
  readonly personId?: string;
  readonly score?: number;
  readonly comment?: string | null;
  readonly personProperties?: Properties;
  /** The full list. */
  readonly tags?: readonly string[];
  /** Text of a note to append. */
  readonly note?: string;
}

/** 4.7 */
export interface MetricsQuery extends TimeRange {
  readonly trend: string | null;
  readonly groups: ReadonlySet<MetricGroup>;
}

/** 4.8 */
export interface MembersQuery {
  readonly platform: Platform;
  readonly personId: string | null;
  readonly personEmail: string | null;
  readonly personPhoneNumber: string | null;
  readonly perPage: number;
  readonly after: string | null;
}

/** 4.9. Without `properties` a member keeps theirs, and a new one starts from those stored with the person. */
export interface MemberInput {
  readonly platform: Platform;
  readonly personId: string | null;
  readonly personEmail: string | null;
  readonly personPhoneNumber: string | null;
  readonly personName: string | null;
  readonly properties: Properties | null;
}

/** Names one person in a path or a body: exactly one of the three. */
export type PersonReference =
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "email"; readonly email: string }
  | { readonly by: "phone_number"; readonly phoneNumber: string };
