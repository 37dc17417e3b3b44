import { expect, it } from "vitest";
import { BASIC } from "./fixture.ts";
import { useWire } from "./wire.ts";

const wire = useWire([
  `Authorization: ${BASIC}`,
  "Accept: application/json",
  "User-Agent: Delighted PHP API Client 4.2.0",
]);
const FORM = ["Content-Type: application/x-www-form-urlencoded"];

it("when a GET announces a body of no bytes, then it is answered", async () => {
  expect(await wire.send("GET /v1/people", "")).toMatchObject({ status: 200, json: [] });
});

it("when a person is posted as a form, then names decode and `false` is false", async () => {
  const answer = await wire.send(
    "POST /v1/people",
    "email=a%2Bb%40x.co&send=false&properties%5Ba+b%5D=1&properties%5Bc%5D=",
    FORM,
  );
  expect(answer).toMatchObject({
    status: 201,
    json: { email: "a+b@x.co", survey_scheduled_at: null, properties: { "a b": "1", c: "" } },
  });
});

it("when a `+` in a filter was not escaped, then the person is still found", async () => {
  await wire.fixture().post("/v1/people", { email: "a+b@x.co", phone_number: "+14155551212", send: false });
  expect(await wire.send("GET /v1/people?email=a+b@x.co")).toMatchObject({ json: [{ email: "a+b@x.co" }] });
  expect(await wire.send("GET /v1/people?phone_number=+14155551212")).toMatchObject({ json: [{ email: "a+b@x.co" }] });
  await wire.fixture().post("/v1/autopilot/sms/memberships", { person_phone_number: "+14155551212" });
  const members = await wire.send("GET /v1/autopilot/sms/memberships?person_phone_number=+14155551212");
  expect(members).toMatchObject({ json: [{ person: { phone_number: "+14155551212" } }] });
});

it("when a person is deleted with an empty form, then 202 says ok", async () => {
  await wire.fixture().post("/v1/people", { phone_number: "+14155551212", send: false });
  const answer = await wire.send("DELETE /v1/people/phone_number:+14155551212", "", FORM);
  expect(answer).toMatchObject({ status: 202, json: { ok: true } });
});

it("when a membership is deleted with a form, then it is gone", async () => {
  await wire.fixture().post("/v1/autopilot/email/memberships", { person_email: "a@x.co" });
  const answer = await wire.send("DELETE /v1/autopilot/email/memberships", "person_email=a%40x.co", FORM);
  expect(answer).toMatchObject({ status: 202, json: { person: { email: "a@x.co" } } });
});

it("when a response is put as JSON without an id, then the path's is meant", async () => {
  const { id: person } = await wire.fixture().post("/v1/people", { email: "a@x.co", send: false });
  const { id } = await wire.fixture().post("/v1/survey_responses", { person, score: 3 });
  const answer = await wire.send(`PUT /v1/survey_responses/${String(id)}`, '{"score":"7"}', [
    "Content-Type: application/json",
  ]);
  expect(answer).toMatchObject({ status: 200, json: { id, score: 7 } });
});
