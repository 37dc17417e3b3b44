import type { AdditionalAnswer, Platform, Properties } from "../../contract/resources.ts";
import type { Channel, Expansion, METRIC_GROUPS, ResponseOrder } from "../../contract/routes.ts";
import type { TimeRange } from "../sql/lists/fragments.ts";

export type { TimeRange };

/** Answers to follow-up questions by question id: one string each, or a list of strings. */
export type TextsByQuestion = Readonly<Record<string, string | readonly string[]>>;

export interface Project {
  readonly id: number;
  readonly name: string;
}

export type MetricGroup = (typeof METRIC_GROUPS)[number];

/** Query parameters (4.1). At most one of `email` and `phoneNumber` is set. */
export interface PeopleQuery extends TimeRange {
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly withProperties: boolean;
  readonly ids?: readonly string[] | null;
  readonly perPage: number;
  /** The opaque position after the previous page; null for the first page. */
  readonly after: string | null;
}

/** Request fields (4.2). A null `name` keeps the stored name. */
export interface SendInput {
  readonly email: string | null;
  readonly phoneNumber: string | null;
  readonly channel: Channel;
  readonly name: string | null;
  readonly delaySeconds: number;
  /** Merged into the person's properties; null changes nothing. */
  readonly properties: Properties | null;
  /** `properties` replace the person's properties instead of being merged into them. */
  readonly replaceProperties: boolean;
  readonly send: boolean;
  readonly lastSentAt: number | null;
  readonly emailUpdate: string | null;
  readonly phoneNumberUpdate: string | null;
}

export type StatusInput = Pick<SendInput, "email" | "phoneNumber" | "channel" | "lastSentAt" | "delaySeconds">;

/** Query parameters (4.3). */
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

/** Request fields (4.4). */
export interface ResponseInput {
  readonly personId: string;
  readonly score: number;
  readonly comment: string | null;
  readonly personProperties: Properties;
  readonly createdAt: number | null;
  /** Answers collected elsewhere: in the API's form, or as one string per question. */
  readonly additionalAnswers?: readonly AdditionalAnswer[];
  readonly answers?: TextsByQuestion;
}

/** `PUT /v1/survey_responses/{id}`: undefined keeps a field, null clears it. */
export interface ResponseChange {
  readonly personId?: string;
  readonly score?: number;
  readonly comment?: string | null;
  readonly personProperties?: Properties;
  readonly tags?: readonly string[];
  readonly note?: string;
}

/** Query parameters (4.7). */
export interface MetricsQuery extends TimeRange {
  readonly trend: string | null;
  readonly groups: ReadonlySet<MetricGroup>;
}

/** Query parameters (4.8). */
export interface MembersQuery {
  readonly platform: Platform;
  readonly personId: string | null;
  readonly personEmail: string | null;
  readonly personPhoneNumber: string | null;
  readonly perPage: number;
  readonly after: string | null;
}

/** Request fields (4.9). Without `properties`, members keep theirs and new ones get the person's. */
export interface MemberInput {
  readonly platform: Platform;
  readonly personId: string | null;
  readonly personEmail: string | null;
  readonly personPhoneNumber: string | null;
  readonly personName: string | null;
  readonly properties: Properties | null;
}

export type PersonReference =
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "email"; readonly email: string }
  | { readonly by: "phone_number"; readonly phoneNumber: string };
