import type { Json } from "./json.ts";

export type FieldType = "string" | "integer" | "boolean" | "timestamp" | "map" | "array" | "object";

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly nullable: boolean;
  /** Resource names, or `string`, of a value or an array's items. */
  readonly of?: readonly string[];
}

export type Properties = Record<string, Json>;

/** As in the people list (4.1). `email` is null for people known only by phone. */
export interface Person {
  id: string;
  email: string | null;
  name: string | null;
  created_at: number;
  phone_number: string | null;
  last_sent_at: number | null;
  last_responded_at: number | null;
  next_survey_scheduled_at: number | null;
}

/** Not in the specification. */
export interface PersonDetails extends Person {
  /** Why a survey requested now wouldn't be sent (a `SurveyStatusName`), or null. */
  survey_status: string | null;
  survey_status_since: number | null;
  survey_status_until: number | null;
  properties: Properties;
  unsubscribed_at: number | null;
  bounced_at: number | null;
  texts_stopped_at: number | null;
  surveys: PersonSurvey[];
  resubscriptions: { created_at: number; note: string }[];
}

interface PersonSurvey {
  id: string;
  channel: string;
  autopilot: boolean;
  state: string;
  reason: string | null;
  created_at: number;
  scheduled_at: number;
  sent_at: number | null;
  /** Through the survey's own link or text message. */
  answered: boolean;
}

/** Answer to 4.2. `survey_scheduled_at` is null if no survey was scheduled. */
export interface SentPerson {
  id: string;
  email: string | null;
  name: string | null;
  survey_scheduled_at: number | null;
  properties: Properties;
}

/** Inside a response with `expand[]=person`. */
interface ExpandedPerson {
  id: string;
  email: string | null;
  name: string | null;
  created_at: number;
  phone_number: string | null;
}

export interface Note {
  id: string;
  text: string;
  user_email: string;
  created_at: number;
}

export interface Choice {
  id: string;
  text: string;
}

export type QuestionType = "select_many" | "select_one" | "scale" | "free_response";

export interface AdditionalAnswer {
  id: string;
  value: {
    free_response: string | null;
    scale: number | null;
    select_one: Choice | null;
    select_many: Choice[] | null;
  };
  question: { id: string; type: QuestionType; text: string };
}

/** 4.3 and 4.4. `person` and `notes` are ids unless expanded. */
export interface SurveyResponse {
  id: string;
  person: string | ExpandedPerson;
  survey_type: string;
  score: number;
  comment: string | null;
  permalink: string;
  created_at: number;
  updated_at: number | null;
  person_properties: Properties | null;
  notes: (string | Note)[];
  tags: string[];
  additional_answers: AdditionalAnswer[];
}

export interface Bounce {
  person_id: string;
  email: string | null;
  name: string | null;
  bounced_at: number;
}

export interface Unsubscribe {
  person_id: string;
  email: string | null;
  name: string | null;
  unsubscribed_at: number;
}

/** 4.7; other groups add prefixed keys to the same object. */
export interface Metrics {
  nps: number;
  promoter_count: number;
  promoter_percent: number;
  passive_count: number;
  passive_percent: number;
  detractor_count: number;
  detractor_percent: number;
  response_count: number;
  [groupField: string]: number;
}

export const PLATFORMS = ["email", "sms"] as const;
/** Part of the path in 4.8 to 4.11. */
export type Platform = (typeof PLATFORMS)[number];

export interface AutopilotConfiguration {
  platform_id: string;
  active: boolean;
  frequency: number;
  created_at: number;
  updated_at: number;
}

/** Not in the specification: part of an Autopilot configuration requested with `?joining=N`. */
export interface JoiningSurveys {
  first_survey_at: number;
  last_survey_at: number;
  per_day: number;
  days: string;
}

export interface Membership {
  created_at: number;
  updated_at: number;
  person: {
    id: string;
    name: string | null;
    email: string | null;
    phone_number: string | null;
    created_at: number;
    last_sent_at: number | null;
  };
  next_survey_request: {
    id: string;
    created_at: number;
    survey_scheduled_at: number;
    properties: Properties;
  } | null;
}

/** In answers about Autopilot members (4.9, 4.10). */
export interface MembershipPerson {
  id: string;
  name: string | null;
  email: string | null;
  phone_number: string | null;
  created_at: number;
}

/** Why a survey requested for each person wouldn't be sent, or null, in the order of the request. */
export interface SurveyStatuses {
  people: { survey_status: string | null; survey_status_until: number | null; properties?: Properties }[];
}

type Of = Pick<Field, "of">;
const required = (name: string, type: FieldType, of: Of = {}): Field => ({ name, type, nullable: false, ...of });
const nullable = (name: string, type: FieldType, of: Of = {}): Field => ({ name, type, nullable: true, ...of });

const STATUS_FIELDS = [nullable("survey_status", "string"), nullable("survey_status_until", "timestamp")];
const PERSON_FIELDS = [
  required("id", "string"),
  nullable("email", "string"),
  nullable("name", "string"),
  required("created_at", "timestamp"),
  nullable("phone_number", "string"),
  nullable("last_sent_at", "timestamp"),
  nullable("last_responded_at", "timestamp"),
  nullable("next_survey_scheduled_at", "timestamp"),
] as const;

export const RESOURCES = {
  person: PERSON_FIELDS,
  sentPerson: [
    required("id", "string"),
    nullable("email", "string"),
    nullable("name", "string"),
    nullable("survey_scheduled_at", "timestamp"),
    required("properties", "map"),
  ],
  surveyResponse: [
    required("id", "string"),
    required("person", "string", { of: ["string", "briefPerson"] }),
    required("survey_type", "string"),
    required("score", "integer"),
    nullable("comment", "string"),
    required("permalink", "string"),
    required("created_at", "timestamp"),
    nullable("updated_at", "timestamp"),
    nullable("person_properties", "map"),
    required("notes", "array", { of: ["string", "note"] }),
    required("tags", "array", { of: ["string"] }),
    required("additional_answers", "array", { of: ["additionalAnswer"] }),
  ],
  bounce: [
    required("person_id", "string"),
    nullable("email", "string"),
    nullable("name", "string"),
    required("bounced_at", "timestamp"),
  ],
  unsubscribe: [
    required("person_id", "string"),
    nullable("email", "string"),
    nullable("name", "string"),
    required("unsubscribed_at", "timestamp"),
  ],
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
    required("person", "object", { of: ["memberPerson"] }),
    nullable("next_survey_request", "object", { of: ["surveyRequest"] }),
  ],
  note: [
    required("id", "string"),
    required("text", "string"),
    required("user_email", "string"),
    required("created_at", "timestamp"),
  ],
  additionalAnswer: [
    required("id", "string"),
    required("value", "object", { of: ["answerValue"] }),
    required("question", "object", { of: ["question"] }),
  ],
  answerValue: [
    nullable("free_response", "string"),
    nullable("scale", "integer"),
    nullable("select_one", "object", { of: ["choice"] }),
    nullable("select_many", "array", { of: ["choice"] }),
  ],
  question: [required("id", "string"), required("type", "string"), required("text", "string")],
  choice: [required("id", "string"), required("text", "string")],
  briefPerson: [
    required("id", "string"),
    nullable("email", "string"),
    nullable("name", "string"),
    required("created_at", "timestamp"),
    nullable("phone_number", "string"),
  ],
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
  addedMember: [
    required("person", "object", { of: ["briefPerson"] }),
    required("properties", "map"),
    // Not in the specification.
    nullable("survey_scheduled_at", "timestamp"),
  ],
  removedMember: [required("person", "object", { of: ["briefPerson"] })],
  signedLink: [required("url", "string")],
  done: [required("ok", "boolean")],
  surveyStatuses: [required("people", "array", { of: ["surveyStatus"] })],
  surveyStatus: STATUS_FIELDS,
  expandedStatuses: [required("people", "array", { of: ["expandedStatus"] })],
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
    required("surveys", "array", { of: ["personSurvey"] }),
    required("resubscriptions", "array", { of: ["resubscription"] }),
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

interface AnswerCounts {
  readonly promoters: number;
  readonly passives: number;
  readonly detractors: number;
}

/**
 * The core group of metrics (4.7). Percentages and `nps` round half away from zero; `nps` is computed from exact
 * shares.
 */
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

/** Whole percent, half away from zero, 0 of nothing. Integer arithmetic keeps halves exact. */
function percent(part: number, total: number): number {
  if (total === 0 || part === 0) return 0;
  return Math.sign(part) * Math.floor((200 * Math.abs(part) + total) / (2 * total)) || 0;
}
