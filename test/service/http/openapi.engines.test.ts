import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, it, test } from "vitest";
import { toOpenApi } from "../../../src/contract/openapi.ts";
import { describeOperations } from "../../../src/service/operations/index.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../src/contract/json.ts";
import { formatQuery } from "../../../src/contract/brackets.ts";
import { ROUTES, routePath, type Route, type RouteName } from "../../../src/contract/routes.ts";
import { addTrend } from "../../../src/service/domain/answers/trends.ts";
import { importHistory } from "../../../src/service/domain/history/import-responses.ts";
import { START } from "../domain/fixture.ts";
import { type HttpFixture, openHttp, ORIGIN } from "./fixture.ts";

interface Example {
  readonly route: RouteName;
  readonly fills?: Record<string, string>;
  readonly parameters?: JsonObject;
  readonly status?: number;
}

const ADA = { email: "ada@example.com", phone_number: "+14155550101" };
const PERIOD = { since: START - 100, until: START + 100 };
const [EMAIL, SMS] = [{ platform: "email" }, { platform: "sms" }];

/** Every row of section 4, in an order that works; the ids come from `openWorld`. */
const EXAMPLES: readonly Example[] = [
  {
    route: "sendPerson",
    parameters: {
      ...ADA,
      channel: "email",
      name: "Ada",
      delay: 60,
      properties: { plan: "pro", locale: "fr", seats: 3 },
      last_sent_at: START - 9_000_000,
    },
    status: 201,
  },
  {
    route: "sendPerson",
    parameters: { email: ADA.email, send: false, replace_properties: true, email_update: "ada@example.org" },
  },
  { route: "sendPerson", parameters: { ...ADA, email: "ada@example.org", send: true } },
  { route: "sendPerson", parameters: { email: "ada@example.org", send: false, "expand[]": ["before"] } },
  {
    route: "sendPerson",
    parameters: { phone_number: ADA.phone_number, send: false, phone_number_update: "+14155550102" },
  },
  { route: "sendPerson", parameters: { phone_number: "+14155550199", channel: "sms" }, status: 201 },
  { route: "listPeople", parameters: { per_page: 1, ...PERIOD } },
  { route: "listPeople", parameters: { email: "nora@example.com" } },
  { route: "listPeople", parameters: { phone_number: "+14155550199" } },
  { route: "listPeople", parameters: { email: "nobody@example.com" } },
  {
    route: "addResponse",
    parameters: { person: "11", score: 9, comment: "good", person_properties: { plan: "pro" }, created_at: START },
    status: 201,
  },
  { route: "addResponse", parameters: { person: "11", score: 0 }, status: 201 },
  { route: "listResponses", parameters: { per_page: 100, page: 1, ...PERIOD, order: "desc:updated_at" } },
  { route: "listResponses", parameters: { "expand[]": ["person", "notes"] } },
  { route: "listResponses", parameters: { "expand[]": ["person"], person_id: "11", person_email: "nora@example.com" } },
  { route: "listResponses", parameters: { trend: "TREND", updated_since: 0, updated_until: START + 1 } },
  { route: "listBounces", parameters: { per_page: 20, page: 1, since: 0, until: START } },
  { route: "listUnsubscribes", parameters: { per_page: 20, page: 1, since: 0, until: START } },
  { route: "getMetrics" },
  { route: "getMetrics", parameters: { ...PERIOD, trend: "TREND", "groups[]": ["core", "email", "sms"] } },
  { route: "getMetrics", parameters: { "groups[]": ["email"] } },
  {
    route: "addMember",
    fills: EMAIL,
    parameters: { person_email: "Grace@example.com", person_name: "Grace", properties: { plan: "pro" } },
    status: 201,
  },
  { route: "addMember", fills: SMS, parameters: { person_phone_number: "+14155550199" }, status: 201 },
  { route: "addMember", fills: EMAIL, parameters: { person_id: "11", person_email: "nora@example.com" }, status: 201 },
  { route: "addMember", fills: EMAIL, parameters: { person_id: "11", "expand[]": ["before"] } },
  { route: "listMembers", fills: EMAIL, parameters: { per_page: 1 } },
  { route: "listMembers", fills: EMAIL, parameters: { person_id: "11" } },
  { route: "listMembers", fills: SMS, parameters: { person_phone_number: "+14155550199" } },
  { route: "listMembers", fills: EMAIL, parameters: { person_email: "nobody@example.com" } },
  { route: "moveMember", fills: EMAIL, parameters: { person_id: "11" } },
  { route: "moveMember", fills: EMAIL, parameters: { person_email: "nora@example.com" } },
  { route: "moveMember", fills: SMS, parameters: { person_phone_number: "+14155550199" } },
  { route: "removeMember", fills: EMAIL, parameters: { person_email: "grace@example.com" } },
  { route: "removeMember", fills: SMS, parameters: { person_phone_number: "+14155550199" } },
  { route: "removeMember", fills: EMAIL, parameters: { person_id: "11" } },
  { route: "getAutopilot", fills: EMAIL },
  { route: "getAutopilot", fills: SMS },
  { route: "getResponse", fills: { id: "31" }, parameters: { "expand[]": ["person", "notes"] } },
  { route: "signResponse", fills: { id: "31" } },
  {
    route: "updateResponse",
    fills: { id: "31" },
    parameters: {
      person: "11",
      score: 4,
      person_properties: { plan: "free" },
      comment: "less good",
      tags: ["a"],
      notes: "called back",
      "expand[]": ["notes"],
    },
  },
  {
    route: "updateResponseByBody",
    parameters: {
      id: "31",
      person: "11",
      score: 5,
      person_properties: {},
      comment: "so so",
      tags: [],
      notes: "once more",
      "expand[]": ["person"],
    },
  },
  { route: "unsubscribe", parameters: { person_email: "nora@example.com" }, status: 201 },
  { route: "unsubscribe", parameters: { person_email: "nora@example.com" } },
  {
    route: "listSurveyStatuses",
    parameters: { people: [{ email: "nora@example.com" }, { email: "new@example.com" }], expand: ["properties"] },
  },
  { route: "resubscribe", parameters: { person_email: "nora@example.com", note: "asked by phone" }, status: 202 },
  { route: "getPerson", fills: { person: "email:nora@example.com" } },
  { route: "listPeople", parameters: { "ids[]": ["11", "12"], "expand[]": ["properties"] } },
  { route: "deleteResponse", fills: { id: "31" } },
  {
    route: "rescheduleSurvey",
    fills: { email: "phone_number:+14155550199" },
    parameters: { scheduled_at: START + 900, channel: "sms", survey: "47" },
  },
  { route: "cancelSurveys", fills: { email: "ada@example.org" } },
  { route: "sendPerson", parameters: { email: "uno@example.org", "expand[]": ["before"] }, status: 201 },
  {
    route: "undoWrites",
    fills: { person: "11" },
    parameters: { writes: [{ before: {}, values: "x", state: "x", survey: null, member: "email", since: 1 }] },
  },
  { route: "deletePerson", fills: { person: "email:ada@example.org" } },
];

const NOBODY = { phoneNumber: null, createdAt: 1, lastSentAt: null, unsubscribedAt: null, bouncedAt: null };
const ANSWERS: Json[] = [
  {
    id: "1",
    value: { free_response: null, scale: null, select_one: null, select_many: [{ id: "a", text: "Price" }] },
    question: { id: "q1", type: "select_many", text: "Why?" },
  },
  {
    id: "2",
    value: { free_response: null, scale: null, select_one: { id: "b", text: "Yes" }, select_many: null },
    question: { id: "q2", type: "select_one", text: "Again?" },
  },
];

const KEEP = { policy: "keep", webhooks: false } as const;

async function openWorld(): Promise<HttpFixture & { readonly trend: string }> {
  const fixture = await openHttp();
  const nora = { ...NOBODY, id: 11, email: "nora@example.com", name: "Nora" };
  const trend = await fixture.write(async (tx) => {
    const people = [
      { ...NOBODY, id: 12, email: "gone@example.com", name: null, unsubscribedAt: 5 },
      { ...NOBODY, id: 13, email: "lost@example.com", name: "Lost", bouncedAt: 6 },
    ];
    for (const step of ["suppressions", "people", "marks"] as const)
      await importHistory(tx, fixture.project, { step, rows: [nora, ...people] }, KEEP);
    const row = { id: 31, person: nora, surveyType: "nps", score: 10, comment: null, createdAt: 7, updatedAt: 8 };
    const notes = [{ id: 41, text: "well", userEmail: "me@example.com", createdAt: 9 }];
    const rows = [{ ...row, properties: { plan: "pro" }, tags: ["vip"], notes, additionalAnswers: ANSWERS }];
    await importHistory(tx, fixture.project, { step: "responses", rows }, KEEP);
    return addTrend(tx, fixture.project, "Pro", { plan: "pro" });
  });
  await fixture.store.settle();
  return { ...fixture, trend: String(trend.id) };
}

const isQuery = ({ method }: Route, name: string): boolean => method === "GET" || name.endsWith("[]");

/** Compiles the schemas with additional properties forbidden, so undocumented fields fail. */
function compile(document: JsonObject): (pointer: readonly string[], value: unknown) => unknown {
  const closed = structuredClone(document);
  const { schemas } = closed.components as { schemas: Record<string, JsonObject> };
  for (const schema of Object.values(schemas)) schema.additionalProperties ??= false;
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(closed, "api");
  return (pointer, value) => {
    const path = pointer.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
    const validate = ajv.compile({ $ref: `api#/${path}` });
    return validate(value) ? "valid" : validate.errors;
  };
}

const pathOf = (route: Route): string[] => ["paths", `${route.path}.json`, route.method.toLowerCase()];
const CONTENT = ["content", "application/json", "schema"];

describe("the document and the service", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let document: JsonObject;
  let check: ReturnType<typeof compile>;
  beforeAll(async () => {
    world = await openWorld();
    document = (await world.call("GET", "/openapi.json", { headers: { authorization: "" } })).json as JsonObject;
    check = compile(document);
  });

  it("when a published validator reads it, then it is OpenAPI 3.1, with every reference in its place", async () => {
    const validator = new Validator();
    expect({ ...(await validator.validate(structuredClone(document))), version: validator.version }).toEqual({
      valid: true,
      version: "3.1",
    });
    expect(() => validator.resolveRefs()).not.toThrow();
  });

  it("when it is asked for without a key, then it names the server that was asked", () => {
    expect(document).toEqual(
      toOpenApi({ version: "0.0.0-source", serverUrl: ORIGIN, operations: describeOperations() }),
    );
  });

  it.each(EXAMPLES.map((example, index) => ({ index, ...example })))(
    "when example $index calls $route, then both sides are as the document says",
    async ({ route: name, fills = {}, parameters = {}, ...example }) => {
      const route: Route = ROUTES[name];
      const status = example.status ?? (route.method === "DELETE" ? 202 : 200);
      const given = parameters.trend === undefined ? parameters : { ...parameters, trend: world.trend };
      const query = Object.entries(given).filter(([key]) => isQuery(route, key));
      const body = Object.fromEntries(Object.entries(given).filter(([key]) => !isQuery(route, key)));
      const declared = (documented(document, route).parameters ?? []) as { name: string; in: string }[];
      const unknown = query.filter(([key]) => !declared.some((each) => each.in === "query" && each.name === key));
      const search = formatQuery(Object.fromEntries(query.map(([key, value]) => [key.replace("[]", ""), value])));
      const hasBody = Object.keys(body).length > 0;
      const answer = await world.call(route.method, `${routePath(route, fills)}?${search}`, hasBody ? { body } : {});
      expect({
        unknown,
        request: hasBody ? check([...pathOf(route), "requestBody", ...CONTENT], body) : "valid",
        status: answer.status,
        answer: check([...pathOf(route), "responses", String(status), ...CONTENT], answer.json),
      }).toEqual({ unknown: [], request: "valid", status, answer: "valid" });
    },
  );

  it("when a call is refused, then the refusal is as the document says, and the body is not", async () => {
    const both = { person_id: "11", person_email: "nora@example.com" };
    const calls: readonly [RouteName, Record<string, string>, JsonObject][] = [
      ["sendPerson", {}, { name: "Nobody" }],
      ["sendPerson", {}, { email: "a@example.com", channel: "post" }],
      ["addResponse", {}, { person: "11", score: 11 }],
      ["removeMember", EMAIL, both],
      ["removeMember", EMAIL, {}],
    ];
    for (const [name, fills, body] of calls) {
      const route: Route = ROUTES[name];
      const answer = await world.call(route.method, routePath(route, fills), { body });
      expect([
        answer.status,
        check(["components", "responses", "refused", ...CONTENT], answer.json),
        check([...pathOf(route), "requestBody", ...CONTENT], body) === "valid",
      ]).toEqual([422, "valid", false]);
    }
  });
});

function documented(document: JsonObject, route: Route): JsonObject {
  const found = pathOf(route).reduce<Json>(
    (value, key) => (isJsonObject(value) ? (value[key] ?? null) : null),
    document,
  );
  return isJsonObject(found) ? found : {};
}

test("when the examples are counted, then each parameter of each endpoint is in one", () => {
  const used = new Set(
    EXAMPLES.flatMap(({ route, parameters = {} }) => [
      route,
      ...Object.keys(parameters).map((key) => `${route} ${key.replace("[]", "")}`),
    ]),
  );
  const declared = (Object.values(ROUTES) as readonly Route[]).flatMap(({ name, parameters }) => [
    name,
    ...parameters.map((parameter) => `${name} ${parameter.name}`),
  ]);
  expect(declared.filter((each) => !used.has(each))).toEqual([]);
});
