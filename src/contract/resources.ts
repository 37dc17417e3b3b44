import type { Json } from "./json.ts";

export type FieldType = "string" | "integer" | "boolean" | "timestamp" | "map" | "array" | "object";

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly nullable: boolean;
  /** Names of the resources (or `string`) that the value or the array's items can be. */
  readonly of: readonly string[];
}

const fieldMaker =
  <const Nullable extends boolean>(isNullable: Nullable) =>
  <const Name extends string, const Type extends FieldType, const Of extends readonly string[]>(
    name: Name,
    type: Type,
    ...of: Of
  ) => ({ name, type, nullable: isNullable, of });
const required = fieldMaker(false);
const nullable = fieldMaker(true);

const STATUS_FIELDS = [nullable("survey_status", "string"), nullable("survey_status_until", "timestamp")];
const BRIEF_PERSON_FIELDS = [
  required("id", "string"),
  nullable("email", "string"),
  nullable("name", "string"),
  required("created_at", "timestamp"),
  nullable("phone_number", "string"),
] as const;
const PERSON_FIELDS = [
  ...BRIEF_PERSON_FIELDS,
  nullable("last_sent_at", "timestamp"),
  nullable("last_responded_at", "timestamp"),
  nullable("next_survey_scheduled_at", "timestamp"),
] as const;

const SENT_PERSON_FIELDS = [
  required("id", "string"),
  nullable("email", "string"),
  nullable("name", "string"),
  nullable("survey_scheduled_at", "timestamp"),
  required("properties", "map"),
] as const;

/** Not in the specification: what the write overwrote (null for a new person), and how to undo it. */
const WRITE_FIELDS = [nullable("before", "map"), required("undo", "map")] as const;

const ADDED_MEMBER_FIELDS = [
  required("person", "object", "briefPerson"),
  required("properties", "map"),
  // Not in the specification.
  nullable("survey_scheduled_at", "timestamp"),
] as const;

const SUPPRESSED_FIELDS = [
  required("person_id", "string"),
  nullable("email", "string"),
  nullable("name", "string"),
] as const;

export const RESOURCES = {
  person: PERSON_FIELDS,
  sentPerson: SENT_PERSON_FIELDS,
  expandedSentPerson: [...SENT_PERSON_FIELDS, ...WRITE_FIELDS],
  surveyResponse: [
    required("id", "string"),
    required("person", "string", "string", "briefPerson"),
    required("survey_type", "string"),
    required("score", "integer"),
    nullable("comment", "string"),
    required("permalink", "string"),
    required("created_at", "timestamp"),
    nullable("updated_at", "timestamp"),
    nullable("person_properties", "map"),
    required("notes", "array", "string", "note"),
    required("tags", "array", "string"),
    required("additional_answers", "array", "additionalAnswer"),
  ],
  bounce: [...SUPPRESSED_FIELDS, required("bounced_at", "timestamp")],
  unsubscribe: [...SUPPRESSED_FIELDS, required("unsubscribed_at", "timestamp")],
  metrics: [
    required("nps", "integer"),
    required("promoter_count", "integer"),
    required("promoter_percent", "integer"),
    required("passive_count", "integer"),
    required("passive_percent", "integer"),
    required("detractor_count", "integer"),
    required("detractor_percent", "integer"),
    required("response_count", "integer"),
  ],
  autopilotConfiguration: [
    required("platform_id", "string"),
    required("active", "boolean"),
    required("frequency", "integer"),
    required("created_at", "timestamp"),
    required("updated_at", "timestamp"),
  ],
  membership: [
    required("created_at", "timestamp"),
    required("updated_at", "timestamp"),
    required("person", "object", "memberPerson"),
    nullable("next_survey_request", "object", "surveyRequest"),
  ],
  note: [
    required("id", "string"),
    required("text", "string"),
    required("user_email", "string"),
    required("created_at", "timestamp"),
  ],
  additionalAnswer: [
    required("id", "string"),
    required("value", "object", "answerValue"),
    required("question", "object", "question"),
  ],
  answerValue: [
    nullable("free_response", "string"),
    nullable("scale", "integer"),
    nullable("select_one", "object", "choice"),
    nullable("select_many", "array", "choice"),
  ],
  question: [required("id", "string"), required("type", "string"), required("text", "string")],
  choice: [required("id", "string"), required("text", "string")],
  briefPerson: BRIEF_PERSON_FIELDS,
  memberPerson: [
    required("id", "string"),
    nullable("name", "string"),
    nullable("email", "string"),
    nullable("phone_number", "string"),
    required("created_at", "timestamp"),
    nullable("last_sent_at", "timestamp"),
  ],
  surveyRequest: [
    required("id", "string"),
    required("created_at", "timestamp"),
    required("survey_scheduled_at", "timestamp"),
    required("properties", "map"),
  ],
  addedMember: ADDED_MEMBER_FIELDS,
  expandedMember: [...ADDED_MEMBER_FIELDS, ...WRITE_FIELDS],
  removedMember: [required("person", "object", "briefPerson")],
  signedLink: [required("url", "string")],
  done: [required("ok", "boolean")],
  undone: [required("done", "array", "string"), required("kept", "array", "string")],
  surveyStatuses: [required("people", "array", "surveyStatus")],
  surveyStatus: STATUS_FIELDS,
  expandedStatuses: [required("people", "array", "expandedStatus")],
  expandedStatus: [...STATUS_FIELDS, required("properties", "map")],
  expandedPerson: [...PERSON_FIELDS, required("properties", "map")],
  personDetails: [
    ...PERSON_FIELDS,
    nullable("survey_status", "string"),
    nullable("survey_status_since", "timestamp"),
    nullable("survey_status_until", "timestamp"),
    required("properties", "map"),
    nullable("unsubscribed_at", "timestamp"),
    nullable("bounced_at", "timestamp"),
    nullable("texts_stopped_at", "timestamp"),
    required("surveys", "array", "personSurvey"),
    required("resubscriptions", "array", "resubscription"),
  ],
  personSurvey: [
    required("id", "string"),
    required("channel", "string"),
    required("autopilot", "boolean"),
    required("state", "string"),
    nullable("reason", "string"),
    required("created_at", "timestamp"),
    required("scheduled_at", "timestamp"),
    nullable("sent_at", "timestamp"),
    required("answered", "boolean"),
  ],
  resubscription: [required("created_at", "timestamp"), required("note", "string")],
} as const satisfies Record<string, readonly Field[]>;

export type ResourceName = keyof typeof RESOURCES;

export type Properties = Record<string, Json>;

interface PlainValues extends Record<"array" | "object", never> {
  string: string;
  integer: number;
  boolean: boolean;
  timestamp: number;
  map: Properties;
}

type Shape<Name extends ResourceName> = {
  [F in (typeof RESOURCES)[Name][number] as F["name"]]: ValueOf<F> | (F["nullable"] extends true ? null : never);
};

type ValueOf<F extends Field> = F["type"] extends "array"
  ? ShapeOrText<F["of"][number]>[]
  : F["of"] extends readonly []
    ? PlainValues[F["type"]]
    : ShapeOrText<F["of"][number]>;

type ShapeOrText<Name> = Name extends ResourceName ? Shape<Name> : string;

/** A person in the people list (4.1). `email` is null for people known only by phone. */
export type Person = Shape<"person">;

/** The response to 4.2. `survey_scheduled_at` is null if no survey was scheduled. */
export type SentPerson = Shape<"sentPerson">;

/** Not in the specification. `survey_status`: why a survey requested now wouldn't be sent (a `SurveyStatusName`). */
export type PersonDetails = Shape<"personDetails">;

/** Not in the specification: a survey of a person, sent or not. */
export type PersonSurvey = Shape<"personSurvey">;

export type Note = Shape<"note">;
export type Choice = Shape<"choice">;
export type QuestionType = "select_many" | "select_one" | "scale" | "free_response";

export interface AdditionalAnswer extends Shape<"additionalAnswer"> {
  question: Shape<"question"> & { type: QuestionType };
}

/** 4.3 and 4.4. `person` and `notes` are ids unless expanded. */
export interface SurveyResponse extends Shape<"surveyResponse"> {
  additional_answers: AdditionalAnswer[];
}

export type Bounce = Shape<"bounce">;
export type Unsubscribe = Shape<"unsubscribe">;

/** 4.7; other groups add prefixed keys to the same object. */
export type Metrics = Shape<"metrics"> & { [groupField: string]: number };

export const PLATFORMS = ["email", "sms"] as const;
/** Part of the path in 4.8 to 4.11. */
export type Platform = (typeof PLATFORMS)[number];

export type AutopilotConfiguration = Shape<"autopilotConfiguration">;

/** Not in the specification: added to an Autopilot configuration requested with `?joining=N`. */
export interface JoiningSurveys {
  first_survey_at: number;
  last_survey_at: number;
  per_day: number;
  days: string;
}

export type Membership = Shape<"membership">;

/** The person in responses about Autopilot members (4.9, 4.10). */
export type MembershipPerson = Shape<"briefPerson">;

/** Why each person wouldn't get a survey requested now, or null, in the order of the request. */
export interface SurveyStatuses {
  people: (Shape<"surveyStatus"> & { properties?: Properties })[];
}

interface AnswerCounts {
  readonly promoters: number;
  readonly passives: number;
  readonly detractors: number;
}

/** The core metrics (4.7). Percentages and `nps` round half away from zero; `nps` uses exact shares. */
export function toCoreMetrics({ promoters, passives, detractors }: AnswerCounts): Metrics {
  const total = promoters + passives + detractors;
  return {
    nps: percent(promoters - detractors, total),
    promoter_count: promoters,
    promoter_percent: percent(promoters, total),
    passive_count: passives,
    passive_percent: percent(passives, total),
    detractor_count: detractors,
    detractor_percent: percent(detractors, total),
    response_count: total,
  };
}

/** Whole percent, rounding halves away from zero; 0 if `total` is 0. Integer arithmetic keeps halves exact. */
function percent(part: number, total: number): number {
  if (total === 0 || part === 0) return 0;
  return Math.sign(part) * Math.floor((200 * Math.abs(part) + total) / (2 * total)) || 0;
}
