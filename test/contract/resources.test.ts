import { describe, expect, it, test } from "vitest";
import { LOCALES } from "../../src/contract/locales.ts";
import { RESOURCES } from "../../src/contract/resources.ts";
import { ROUTES, routePath, type Route } from "../../src/contract/routes.ts";

const routes: readonly Route[] = Object.values(ROUTES);

test("when the endpoints of section 4 are listed, then each has its method, path, pagination and parameters", () => {
  const listed = routes.filter((route) => route.section !== null);
  expect(
    listed.map(
      (route) =>
        `${route.section} ${route.method} ${route.path} ${route.pagination}: ${route.parameters
          .filter(({ isOurs }) => isOurs !== true)
          .map(({ name }) => name)
          .join(" ")}`,
    ),
  ).toEqual([
    "4.1 GET /v1/people cursor: per_page since until email phone_number",
    "4.2 POST /v1/people none: email phone_number channel name delay properties send last_sent_at email_update phone_number_update",
    "4.3 GET /v1/survey_responses page: per_page page since until updated_since updated_until trend person_id person_email order expand",
    "4.4 POST /v1/survey_responses none: person score person_properties comment created_at",
    "4.5 GET /v1/bounces page: per_page page since until",
    "4.6 GET /v1/unsubscribes page: per_page page since until",
    "4.7 GET /v1/metrics none: since until trend groups",
    "4.8 GET /v1/autopilot/{platform}/memberships cursor: per_page person_id person_email person_phone_number",
    "4.9 POST /v1/autopilot/{platform}/memberships none: person_id person_email person_phone_number person_name properties",
    "4.10 DELETE /v1/autopilot/{platform}/memberships none: person_id person_email person_phone_number",
    "4.11 GET /v1/autopilot/{platform} none: ",
  ]);
});

test("when a route stands in the table, then it stands under its own name", () => {
  expect(routes.map((route) => route.name)).toEqual(Object.keys(ROUTES));
});

describe("the path of a call", () => {
  it("when there are placeholders, then they are filled and percent-encoded", () => {
    expect(routePath(ROUTES.deletePerson, { person: "email:a+b/c@x.co" })).toBe(
      "/v1/people/email%3Aa%2Bb%2Fc%40x.co.json",
    );
  });

  it("when one is missing, then that is said", () => {
    expect(() => routePath(ROUTES.getAutopilot)).toThrow("getAutopilot needs a value for {platform}");
  });
});

const fieldsOf = (name: keyof typeof RESOURCES): string =>
  RESOURCES[name].map((field) => `${field.name}${field.nullable ? "?" : ""}`).join(" ");

test("when the fields of section 2 are listed, then they stand in its order with their nulls", () => {
  expect([
    fieldsOf("person"),
    fieldsOf("surveyResponse"),
    fieldsOf("bounce"),
    fieldsOf("unsubscribe"),
    fieldsOf("metrics"),
    fieldsOf("autopilotConfiguration"),
  ]).toEqual([
    "id email? name? created_at phone_number? last_sent_at? last_responded_at? next_survey_scheduled_at?",
    "id person survey_type score comment? permalink created_at updated_at? person_properties? notes tags additional_answers",
    "person_id email? name? bounced_at",
    "person_id email? name? unsubscribed_at",
    "nps promoter_count promoter_percent passive_count passive_percent detractor_count detractor_percent response_count",
    "platform_id active frequency created_at updated_at",
  ]);
});

test("when the locales are counted, then there are 37, each once", () => {
  expect([LOCALES.length, new Set(LOCALES).size]).toEqual([37, 37]);
});
