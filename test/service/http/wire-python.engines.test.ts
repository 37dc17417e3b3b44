import { expect, it } from "vitest";
import { KEY } from "./fixture.ts";
import { useWire } from "./wire.ts";

// Base64 of the key without a colon.
const wire = useWire([
  `Authorization: Basic ${Buffer.from(KEY).toString("base64")}`,
  "Accept: application/json",
  "User-Agent: Delighted Python 4.2.0",
]);
const JSON_TYPE = ["Content-Type: application/json"];

it("when a GET carries the body `{}` without a type, then it is answered", async () => {
  expect(await wire.send("GET /v1/people", "{}")).toMatchObject({ status: 200, json: [] });
});

it("when the next page is asked for with the body `{}`, then it comes", async () => {
  for (const name of ["a", "b"]) await wire.fixture().post("/v1/people", { email: `${name}@x.co`, send: false });
  const first = await wire.send("GET /v1/people?per_page=1", "{}");
  const next = /<(.*)>/.exec(first.headers.link ?? "")?.[1] ?? "";
  expect(await wire.send(`GET ${next.slice(wire.url().length)}`, "{}")).toMatchObject({
    status: 200,
    json: [{ email: "b@x.co" }],
  });
});

it("when its own option leaks into the query, then it is ignored", async () => {
  expect(await wire.send("GET /v1/people?auto_handle_rate_limits=True")).toMatchObject({ status: 200, json: [] });
});

it("when properties are nested in the query, then they are a map", async () => {
  const answer = await wire.send("POST /v1/people?email=a%40x.co&send=false&properties%5Bplan%5D=pro");
  expect(answer).toMatchObject({ status: 201, json: { properties: { plan: "pro" } } });
});

it("when a membership is deleted with a JSON body, then it is gone", async () => {
  await wire.fixture().post("/v1/autopilot/email/memberships", { person_email: "a@x.co" });
  const answer = await wire.send("DELETE /v1/autopilot/email/memberships", '{"person_email": "a@x.co"}', JSON_TYPE);
  expect(answer).toMatchObject({ status: 202, json: { person: { email: "a@x.co" } } });
});

it("when a person is deleted by id with the body `{}`, then 202 says ok", async () => {
  const { id } = await wire.fixture().post("/v1/people", { email: "a@x.co", send: false });
  expect(await wire.send(`DELETE /v1/people/${String(id)}`, "{}", JSON_TYPE)).toMatchObject({
    status: 202,
    json: { ok: true },
  });
});

it("when a whole response is put back with its id also in the body, then what is read-only is ignored", async () => {
  const { id: person } = await wire.fixture().post("/v1/people", { email: "a@x.co", send: false });
  const response = await wire.fixture().post("/v1/survey_responses", { person, score: 3, comment: "so so" });
  const body = JSON.stringify({ ...response, score: 10, survey_type: "csat", notes: [] });
  const answer = await wire.send(`PUT /v1/survey_responses/${String(response.id)}`, body, JSON_TYPE);
  expect(answer).toMatchObject({
    status: 200,
    json: { ...response, score: 10, permalink: expect.stringContaining(`${wire.url()}/r/`) },
  });
});

it("when one expansion is all it can send, then notes are ids and the person is whole", async () => {
  const { id: person } = await wire.fixture().post("/v1/people", { email: "a@x.co", name: "A", send: false });
  await wire.fixture().post("/v1/survey_responses", { person, score: 3 });
  const { json } = await wire.send("GET /v1/survey_responses?expand%5B%5D=person", "{}");
  expect(json).toMatchObject([{ person: { id: person, email: "a@x.co", name: "A", phone_number: null }, notes: [] }]);
});
