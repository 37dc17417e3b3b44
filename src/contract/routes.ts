/** The endpoint table, section 4, and the endpoints that published client libraries call beside it. */

export type Method = "GET" | "POST" | "PUT" | "DELETE";
export type Pagination = "cursor" | "page" | "none";
export type ParameterType = "integer" | "string" | "timestamp" | "boolean" | "map" | "array" | "email" | "phone";

export interface Parameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly choices?: readonly string[];
  readonly required?: boolean;
}

export interface Route {
  /** The name under which handlers, client functions and commands refer to it. */
  readonly name: string;
  readonly method: Method;
  /** Path without `.json`; `{platform}` is `email` or `sms`, other braces are one percent-encoded segment. */
  readonly path: string;
  /** Section of the specification; null for an endpoint that only client libraries know. */
  readonly section: string | null;
  readonly pagination: Pagination;
  readonly parameters: readonly Parameter[];
  /** A repeat of the same call changes nothing more: it cannot schedule a second survey or add a second row. */
  readonly idempotent: boolean;
}

export const RESPONSE_ORDERS = ["asc", "desc", "asc:updated_at", "desc:updated_at"] as const;
export type ResponseOrder = (typeof RESPONSE_ORDERS)[number];
export const EXPANSIONS = ["person", "notes"] as const;
export type Expansion = (typeof EXPANSIONS)[number];
export const METRIC_GROUPS = ["core", "email", "kiosk", "link", "sms", "web"] as const;
export const CHANNELS = ["email", "sms"] as const;
export type Channel = (typeof CHANNELS)[number];

const parameter = (name: string, type: ParameterType, extra: Partial<Parameter> = {}): Parameter => ({
  name,
  type,
  ...extra,
});
const perPage = parameter("per_page", "integer");
const page = parameter("page", "integer");
const createdRange = [parameter("since", "timestamp"), parameter("until", "timestamp")];
const memberIdentifiers = [
  parameter("person_id", "string"),
  parameter("person_email", "email"),
  parameter("person_phone_number", "phone"),
];

/** One row an endpoint, in the order of the specification. */
export const ROUTES = {
  listPeople: {
    name: "listPeople",
    method: "GET",
    path: "/v1/people",
    section: "4.1",
    pagination: "cursor",
    idempotent: true,
    parameters: [perPage, ...createdRange, parameter("email", "email"), parameter("phone_number", "phone")],
  },
  sendPerson: {
    name: "sendPerson",
    method: "POST",
    path: "/v1/people",
    section: "4.2",
    pagination: "none",
    idempotent: false,
    parameters: [
      parameter("email", "email"),
      parameter("phone_number", "phone"),
      parameter("channel", "string", { choices: CHANNELS }),
      parameter("name", "string"),
      parameter("delay", "integer"),
      parameter("properties", "map"),
      parameter("send", "boolean"),
      parameter("last_sent_at", "timestamp"),
      parameter("email_update", "email"),
      parameter("phone_number_update", "phone"),
    ],
  },
  listResponses: {
    name: "listResponses",
    method: "GET",
    path: "/v1/survey_responses",
    section: "4.3",
    pagination: "page",
    idempotent: true,
    parameters: [
      perPage,
      page,
      ...createdRange,
      parameter("updated_since", "timestamp"),
      parameter("updated_until", "timestamp"),
      parameter("trend", "string"),
      parameter("person_id", "string"),
      parameter("person_email", "email"),
      parameter("order", "string", { choices: RESPONSE_ORDERS }),
      parameter("expand", "array", { choices: EXPANSIONS }),
    ],
  },
  addResponse: {
    name: "addResponse",
    method: "POST",
    path: "/v1/survey_responses",
    section: "4.4",
    pagination: "none",
    idempotent: false,
    parameters: [
      parameter("person", "string", { required: true }),
      parameter("score", "integer", { required: true }),
      parameter("person_properties", "map"),
      parameter("comment", "string"),
      parameter("created_at", "timestamp"),
    ],
  },
  listBounces: {
    name: "listBounces",
    method: "GET",
    path: "/v1/bounces",
    section: "4.5",
    pagination: "page",
    idempotent: true,
    parameters: [perPage, page, ...createdRange],
  },
  listUnsubscribes: {
    name: "listUnsubscribes",
    method: "GET",
    path: "/v1/unsubscribes",
    section: "4.6",
    pagination: "page",
    idempotent: true,
    parameters: [perPage, page, ...createdRange],
  },
  getMetrics: {
    name: "getMetrics",
    method: "GET",
    path: "/v1/metrics",
    section: "4.7",
    pagination: "none",
    idempotent: true,
    parameters: [
      ...createdRange,
      parameter("trend", "string"),
      parameter("groups", "array", { choices: METRIC_GROUPS }),
    ],
  },
  listMembers: {
    name: "listMembers",
    method: "GET",
    path: "/v1/autopilot/{platform}/memberships",
    section: "4.8",
    pagination: "cursor",
    idempotent: true,
    parameters: [perPage, ...memberIdentifiers],
  },
  addMember: {
    name: "addMember",
    method: "POST",
    path: "/v1/autopilot/{platform}/memberships",
    section: "4.9",
    pagination: "none",
    idempotent: true,
    parameters: [...memberIdentifiers, parameter("person_name", "string"), parameter("properties", "map")],
  },
  removeMember: {
    name: "removeMember",
    method: "DELETE",
    path: "/v1/autopilot/{platform}/memberships",
    section: "4.10",
    pagination: "none",
    idempotent: true,
    parameters: memberIdentifiers,
  },
  getAutopilot: {
    name: "getAutopilot",
    method: "GET",
    path: "/v1/autopilot/{platform}",
    section: "4.11",
    pagination: "none",
    idempotent: true,
    parameters: [],
  },
  deletePerson: {
    name: "deletePerson",
    method: "DELETE",
    path: "/v1/people/{person}",
    section: null,
    pagination: "none",
    idempotent: true,
    parameters: [],
  },
  cancelSurveys: {
    name: "cancelSurveys",
    method: "DELETE",
    path: "/v1/people/{email}/survey_requests/pending",
    section: null,
    pagination: "none",
    idempotent: true,
    parameters: [],
  },
  unsubscribe: {
    name: "unsubscribe",
    method: "POST",
    path: "/v1/unsubscribes",
    section: null,
    pagination: "none",
    idempotent: true,
    parameters: [parameter("person_email", "email", { required: true })],
  },
  getResponse: {
    name: "getResponse",
    method: "GET",
    path: "/v1/survey_responses/{id}",
    section: null,
    pagination: "none",
    idempotent: true,
    parameters: [parameter("expand", "array", { choices: EXPANSIONS })],
  },
  updateResponse: {
    name: "updateResponse",
    method: "PUT",
    path: "/v1/survey_responses/{id}",
    section: null,
    pagination: "none",
    idempotent: true,
    parameters: [
      parameter("person", "string"),
      parameter("score", "integer"),
      parameter("person_properties", "map"),
      parameter("comment", "string"),
      parameter("tags", "array"),
      parameter("notes", "string"),
      parameter("expand", "array", { choices: EXPANSIONS }),
    ],
  },
  updateResponseByBody: {
    name: "updateResponseByBody",
    method: "PUT",
    path: "/v1/survey_responses",
    section: null,
    pagination: "none",
    idempotent: true,
    parameters: [
      parameter("id", "string", { required: true }),
      parameter("person", "string"),
      parameter("score", "integer"),
      parameter("person_properties", "map"),
      parameter("comment", "string"),
      parameter("tags", "array"),
      parameter("notes", "string"),
      parameter("expand", "array", { choices: EXPANSIONS }),
    ],
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;

/** The path of a call, `.json` included (section 1), with its placeholders filled and percent-encoded. */
export function routePath(route: Route, placeholders: Readonly<Record<string, string>> = {}): string {
  const filled = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = placeholders[name];
    if (value === undefined) throw new TypeError(`${route.name} needs a value for {${name}}`);
    return encodeURIComponent(value);
  });
  return `${filled}.json`;
}
