import { expect, it } from "vitest";
import { BASIC } from "./fixture.ts";
import { useWire } from "./wire.ts";

const wire = useWire([`Authorization: ${BASIC}`, "Accept: application/json", "User-Agent: Delighted RubyGem 2.1.0"]);
const JSON_TYPE = ["Content-Type: application/json"];

it("when both expansions come in encoded brackets, then both count", async () => {
  const { id: person } = await wire.fixture().post("/v1/people", { email: "a@x.co", send: false });
  await wire.fixture().post("/v1/survey_responses", { person, score: 3 });
  const { status, json } = await wire.send("GET /v1/survey_responses?expand%5B%5D=person&expand%5B%5D=notes");
  expect({ status, json }).toMatchObject({ status: 200, json: [{ person: { id: person }, notes: [] }] });
});

it("when a whole response comes back with `expand` inside, then the answer is expanded", async () => {
  const { id: person } = await wire.fixture().post("/v1/people", { email: "a@x.co", send: false });
  const response = await wire.fixture().post("/v1/survey_responses", { person, score: 3 });
  const body = JSON.stringify({ ...response, person: { id: person }, score: 8, expand: ["person"] });
  const answer = await wire.send(`PUT /v1/survey_responses/${String(response.id)}`, body, JSON_TYPE);
  expect(answer).toMatchObject({ status: 200, json: { score: 8, person: { id: person, email: "a@x.co" } } });
});

it.each(["/v1/people/%s", "/v1/people/email%3Aa%40x.co", "/v1/people/email:a@x.co", "/v1/people/email:a@x.co.json"])(
  "when a person is deleted at %s with a content type and no body, then 202 says ok",
  async (path) => {
    const { id } = await wire.fixture().post("/v1/people", { email: "a@x.co", send: false });
    expect(await wire.send(`DELETE ${path.replace("%s", String(id))}`, undefined, JSON_TYPE)).toMatchObject({
      status: 202,
      json: { ok: true },
    });
    expect(await wire.fixture().get("/v1/people")).toEqual([]);
  },
);

it("when a membership is deleted with a JSON body, then the answer holds the person", async () => {
  await wire.fixture().post("/v1/autopilot/sms/memberships", { person_phone_number: "+14155551212" });
  const answer = await wire.send(
    "DELETE /v1/autopilot/sms/memberships",
    '{"person_phone_number":"+14155551212"}',
    JSON_TYPE,
  );
  expect(answer).toMatchObject({ status: 202, json: { person: { phone_number: "+14155551212" } } });
});

it("when waiting surveys are cancelled by an encoded e-mail, then none waits", async () => {
  await wire.fixture().post("/v1/people", { email: "a+b@x.co", delay: 3600 });
  const answer = await wire.send("DELETE /v1/people/a%2Bb%40x.co/survey_requests/pending", undefined, JSON_TYPE);
  expect(answer).toMatchObject({ status: 202, json: { ok: true } });
  expect(await wire.fixture().get("/v1/people")).toMatchObject([{ next_survey_scheduled_at: null }]);
});

it("when somebody is unsubscribed, then the first time is 201 and both say ok", async () => {
  await wire.fixture().post("/v1/people", { email: "a@x.co", send: false });
  const body = '{"person_email":"a@x.co"}';
  expect(await wire.send("POST /v1/unsubscribes", body, JSON_TYPE)).toMatchObject({ status: 201, json: { ok: true } });
  expect(await wire.send("POST /v1/unsubscribes", body, JSON_TYPE)).toMatchObject({ status: 200, json: { ok: true } });
});
