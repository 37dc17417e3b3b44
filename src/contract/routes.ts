import { PAGE_DEFAULT, PER_PAGE_DEFAULT, PER_PAGE_MAX, SCORE_MAX, SCORE_MIN } from "./limits.ts";
import type { ResourceName } from "./resources.ts";

type Method = "GET" | "POST" | "PUT" | "DELETE";
type Pagination = "cursor" | "page" | "none";
export type ParameterType = "integer" | "string" | "timestamp" | "boolean" | "map" | "array" | "email" | "phone";

export interface Parameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly choices?: readonly string[];
  readonly required?: boolean;
  readonly items?: "map";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly otherwise?: number | boolean | string;
  readonly isQuery?: boolean;
  /** An addition to the specification, which other servers ignore. */
  readonly isOurs?: boolean;
  readonly text?: string;
}

export interface Route {
  readonly name: string;
  readonly method: Method;
  /** Path without `.json`. `{platform}` is `email` or `sms`; other placeholders are one percent-encoded segment. */
  readonly path: string;
  /** Null for an endpoint outside the specification. */
  readonly section: string | null;
  readonly pagination: Pagination;
  readonly parameters: readonly Parameter[];
  readonly anyOf?: readonly string[];
  readonly oneOf?: readonly string[];
  readonly summary: string;
  readonly resource: ResourceName;
  readonly expanded?: ResourceName;
  readonly statuses: readonly number[];
  /** Repeating the call can't schedule a second survey or add a second row. */
  readonly idempotent: boolean;
}

export const RESPONSE_ORDERS = ["asc", "desc", "asc:updated_at", "desc:updated_at"] as const;
export type ResponseOrder = (typeof RESPONSE_ORDERS)[number];
export const EXPANSIONS = ["person", "notes"] as const;
export type Expansion = (typeof EXPANSIONS)[number];
/** Not in the specification: values that `expand` accepts for people on our server. */
export const PERSON_EXPANSIONS = ["properties"] as const;
export const METRIC_GROUPS = ["core", "email", "kiosk", "link", "sms", "web"] as const;
export const CHANNELS = ["email", "sms"] as const;
export type Channel = (typeof CHANNELS)[number];

const parameter = (name: string, type: ParameterType, extra: Partial<Parameter> = {}): Parameter => ({
  name,
  type,
  ...extra,
});
const perPage = parameter("per_page", "integer", { minimum: 1, maximum: PER_PAGE_MAX, otherwise: PER_PAGE_DEFAULT });
const page = parameter("page", "integer", { minimum: 1, otherwise: PAGE_DEFAULT });
const createdRange = [
  parameter("since", "timestamp", { text: "first second, included" }),
  parameter("until", "timestamp", { text: "last second, included" }),
];
const trend = parameter("trend", "string", { text: "id of a saved filter on person_properties" });
const expand = parameter("expand", "array", { choices: EXPANSIONS, isQuery: true, text: "whole objects, not ids" });
const expandBefore = parameter("expand", "array", {
  choices: ["before"],
  isQuery: true,
  isOurs: true,
  text: "what was overwritten",
});
const score = { minimum: SCORE_MIN, maximum: SCORE_MAX };
const memberIdentifiers = [
  parameter("person_id", "string"),
  parameter("person_email", "email"),
  parameter("person_phone_number", "phone"),
];
const MEMBER_IDENTIFIERS = memberIdentifiers.map(({ name }) => name);
const responseChanges = [
  parameter("person", "string", { text: "id of the person who responded" }),
  parameter("score", "integer", score),
  parameter("person_properties", "map"),
  parameter("comment", "string"),
  parameter("tags", "array", { text: "the full list" }),
  parameter("notes", "string", { text: "text of a note to append" }),
  expand,
];

/** The defaults describe an endpoint that is not in the specification and returns 200. */
const endpoint = (
  name: string,
  method: Method,
  path: string,
  more: Pick<Route, "summary" | "resource"> & Partial<Route>,
): Route => ({
  name,
  method,
  path,
  section: null,
  pagination: "none",
  idempotent: method !== "POST",
  statuses: [200],
  parameters: [],
  ...more,
});

export const ROUTES = {
  listPeople: endpoint("listPeople", "GET", "/v1/people", {
    section: "4.1",
    summary: "List people",
    pagination: "cursor",
    resource: "person",
    expanded: "expandedPerson",
    parameters: [
      perPage,
      ...createdRange,
      parameter("email", "email"),
      parameter("phone_number", "phone"),
      parameter("ids", "array", { isOurs: true, text: "only these, 100 at most" }),
      parameter("expand", "array", {
        choices: PERSON_EXPANSIONS,
        isQuery: true,
        isOurs: true,
        text: "more of each person",
      }),
    ],
  }),
  sendPerson: endpoint("sendPerson", "POST", "/v1/people", {
    section: "4.2",
    summary: "Create or update a person and schedule a survey",
    resource: "sentPerson",
    expanded: "expandedSentPerson",
    statuses: [200, 201],
    anyOf: ["email", "phone_number"],
    parameters: [
      parameter("email", "email"),
      parameter("phone_number", "phone"),
      parameter("channel", "string", { choices: CHANNELS, otherwise: "email" }),
      parameter("name", "string"),
      parameter("delay", "integer", { minimum: 0, otherwise: 0, text: "seconds before the survey is sent" }),
      parameter("properties", "map", { text: "merged into the stored ones; null or empty text removes one" }),
      parameter("replace_properties", "boolean", {
        otherwise: false,
        isOurs: true,
        text: "true replaces the stored properties",
      }),
      parameter("send", "boolean", { otherwise: true, text: "false saves the person and sends nothing" }),
      parameter("last_sent_at", "timestamp", { text: "when the person was last surveyed, for throttling" }),
      parameter("email_update", "email", { text: "the new address" }),
      parameter("phone_number_update", "phone", { text: "the new number" }),
      expandBefore,
    ],
  }),
  listResponses: endpoint("listResponses", "GET", "/v1/survey_responses", {
    section: "4.3",
    summary: "List survey responses",
    pagination: "page",
    resource: "surveyResponse",
    parameters: [
      perPage,
      page,
      ...createdRange,
      parameter("updated_since", "timestamp"),
      parameter("updated_until", "timestamp"),
      trend,
      parameter("person_id", "string"),
      parameter("person_email", "email"),
      parameter("order", "string", { choices: RESPONSE_ORDERS }),
      expand,
    ],
  }),
  addResponse: endpoint("addResponse", "POST", "/v1/survey_responses", {
    section: "4.4",
    summary: "Add a survey response",
    resource: "surveyResponse",
    statuses: [201],
    parameters: [
      parameter("person", "string", { required: true, text: "id of the person who responded" }),
      parameter("score", "integer", { required: true, ...score }),
      parameter("person_properties", "map"),
      parameter("comment", "string"),
      parameter("created_at", "timestamp", { text: "when it was collected; now when absent" }),
    ],
  }),
  listBounces: endpoint("listBounces", "GET", "/v1/bounces", {
    section: "4.5",
    summary: "List bounced people",
    pagination: "page",
    resource: "bounce",
    parameters: [perPage, page, ...createdRange],
  }),
  listUnsubscribes: endpoint("listUnsubscribes", "GET", "/v1/unsubscribes", {
    section: "4.6",
    summary: "List unsubscribed people",
    pagination: "page",
    resource: "unsubscribe",
    parameters: [perPage, page, ...createdRange],
  }),
  getMetrics: endpoint("getMetrics", "GET", "/v1/metrics", {
    section: "4.7",
    summary: "Get metrics",
    resource: "metrics",
    parameters: [...createdRange, trend, parameter("groups", "array", { choices: METRIC_GROUPS })],
  }),
  listMembers: endpoint("listMembers", "GET", "/v1/autopilot/{platform}/memberships", {
    section: "4.8",
    summary: "List Autopilot memberships",
    pagination: "cursor",
    resource: "membership",
    parameters: [perPage, ...memberIdentifiers],
  }),
  addMember: endpoint("addMember", "POST", "/v1/autopilot/{platform}/memberships", {
    section: "4.9",
    summary: "Add a person to Autopilot, or change the properties there",
    idempotent: true,
    resource: "addedMember",
    expanded: "expandedMember",
    statuses: [200, 201],
    anyOf: MEMBER_IDENTIFIERS,
    parameters: [
      ...memberIdentifiers,
      parameter("person_name", "string"),
      parameter("properties", "map"),
      expandBefore,
    ],
  }),
  removeMember: endpoint("removeMember", "DELETE", "/v1/autopilot/{platform}/memberships", {
    section: "4.10",
    summary: "Remove a person from Autopilot",
    resource: "removedMember",
    statuses: [202],
    oneOf: MEMBER_IDENTIFIERS,
    parameters: memberIdentifiers,
  }),
  moveMember: endpoint("moveMember", "POST", "/v1/autopilot/{platform}/memberships/move", {
    summary: "Move a member of the other platform to this one; the next survey keeps its date",
    idempotent: true,
    resource: "addedMember",
    oneOf: MEMBER_IDENTIFIERS,
    parameters: memberIdentifiers,
  }),
  getAutopilot: endpoint("getAutopilot", "GET", "/v1/autopilot/{platform}", {
    section: "4.11",
    summary: "Get the Autopilot configuration",
    resource: "autopilotConfiguration",
  }),
  getPerson: endpoint("getPerson", "GET", "/v1/people/{person}", {
    summary: "Get everything about a person, by id, email:… or phone_number:…",
    resource: "personDetails",
  }),
  deletePerson: endpoint("deletePerson", "DELETE", "/v1/people/{person}", {
    summary: "Delete a person, named by id, email:… or phone_number:…",
    resource: "done",
    statuses: [202],
  }),
  cancelSurveys: endpoint("cancelSurveys", "DELETE", "/v1/people/{email}/survey_requests/pending", {
    summary: "Cancel a person's surveys that were not sent yet; named by e-mail, id or phone_number:…",
    resource: "done",
    statuses: [202],
  }),
  rescheduleSurvey: endpoint("rescheduleSurvey", "PUT", "/v1/people/{email}/survey_requests/pending", {
    summary: "Change when a person's waiting survey is sent; named by e-mail, id or phone_number:…",
    resource: "personSurvey",
    parameters: [
      parameter("scheduled_at", "timestamp", { required: true, text: "the new time, not in the past" }),
      parameter("channel", "string", { choices: CHANNELS, text: "which survey, if several wait" }),
      parameter("survey", "string", { text: "id of the survey, if several wait on a channel" }),
    ],
  }),
  undoWrites: endpoint("undoWrites", "POST", "/v1/people/{person}/undo", {
    summary: "Undo what an import wrote to a person, by id, as far as nobody has touched it since",
    idempotent: true,
    resource: "undone",
    parameters: [
      parameter("writes", "array", {
        required: true,
        items: "map",
        text: "in their order: before with the fields of undo as answered, or response and updated_at",
      }),
    ],
  }),
  unsubscribe: endpoint("unsubscribe", "POST", "/v1/unsubscribes", {
    summary: "Unsubscribe a person",
    idempotent: true,
    resource: "done",
    statuses: [200, 201],
    parameters: [parameter("person_email", "email", { required: true })],
  }),
  resubscribe: endpoint("resubscribe", "DELETE", "/v1/unsubscribes", {
    summary: "Clear a person's unsubscribe and bounce",
    resource: "done",
    statuses: [202],
    parameters: [
      parameter("person_email", "email", { required: true }),
      parameter("note", "string", { required: true, text: "who asked for it and why" }),
    ],
  }),
  getResponse: endpoint("getResponse", "GET", "/v1/survey_responses/{id}", {
    summary: "Get a survey response",
    resource: "surveyResponse",
    parameters: [expand],
  }),
  signResponse: endpoint("signResponse", "GET", "/v1/survey_responses/{id}/link", {
    summary: "Get a link to a response that works without a key for 30 days",
    resource: "signedLink",
  }),
  updateResponse: endpoint("updateResponse", "PUT", "/v1/survey_responses/{id}", {
    summary: "Change a survey response",
    resource: "surveyResponse",
    parameters: responseChanges,
  }),
  listSurveyStatuses: endpoint("listSurveyStatuses", "POST", "/v1/people/survey_statuses", {
    summary: "Check who would not be surveyed, and why; changes nothing",
    idempotent: true,
    resource: "surveyStatuses",
    expanded: "expandedStatuses",
    parameters: [
      parameter("people", "array", {
        required: true,
        items: "map",
        text: "100 at most, each with email, phone_number, channel, last_sent_at and delay as for sending",
      }),
      parameter("expand", "array", { choices: PERSON_EXPANSIONS, text: "also what is stored with each person" }),
    ],
  }),
  deleteResponse: endpoint("deleteResponse", "DELETE", "/v1/survey_responses/{id}", {
    summary: "Delete a survey response",
    resource: "done",
    statuses: [202],
  }),
  updateResponseByBody: endpoint("updateResponseByBody", "PUT", "/v1/survey_responses", {
    summary: "Change the survey response that the body names",
    resource: "surveyResponse",
    parameters: [parameter("id", "string", { required: true }), ...responseChanges],
  }),
} satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;

/** Includes `.json` (section 1); placeholders are percent-encoded. */
export function routePath(route: Route, placeholders: Readonly<Record<string, string>> = {}): string {
  const filled = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = placeholders[name];
    if (value === undefined) throw new TypeError(`${route.name} needs a value for {${name}}`);
    return encodeURIComponent(value);
  });
  return `${filled}.json`;
}

/** Not in the specification: percent-encoded names of brand and project, sent with metrics of the group `email`. */
export const PROJECT_NAME_HEADER = "x-survey-project";

/** Not in the specification: the scheduled survey will be written to a file instead of being sent. */
export const LEFT_IN_OUTBOX = { "x-survey-delivery": "outbox" } as const;

/** Not in the specification: our server has the endpoint `listSurveyStatuses`. */
export const SERVES_STATUSES = { "x-survey-statuses": "100" } as const;

/** Not in the specification: some responses of the project have additional answers. */
export const HAVE_ANSWERS = { "x-additional-answers": "some" } as const;
