import { expect, it } from "vitest";
import { BASIC } from "./fixture.ts";
import { useWire } from "./wire.ts";

const wire = useWire([
  `Authorization: ${BASIC}`,
  "Accept: application/json",
  "Content-Type: application/json",
  "User-Agent: Delighted Node Client 2.2.0",
]);

it("when a GET names a content type and has no body, then it is answered", async () => {
  expect(await wire.send("GET /v1/people")).toMatchObject({ status: 200, json: [] });
});

it("when a person is posted as JSON without `.json` in the path, then it is made", async () => {
  const answer = await wire.send("POST /v1/people", '{"email":"a@x.co","properties":{"plan":"pro"},"send":false}');
  expect(answer).toMatchObject({
    status: 201,
    json: { email: "a@x.co", survey_scheduled_at: null, properties: { plan: "pro" } },
  });
});

it("when a membership is deleted with its identifier in the query, then it is gone", async () => {
  await wire.fixture().post("/v1/autopilot/email/memberships", { person_email: "a+b@x.co" });
  const answer = await wire.send("DELETE /v1/autopilot/email/memberships?person_email=a%2Bb%40x.co");
  expect(answer).toMatchObject({ status: 202, json: { person: { email: "a+b@x.co" } } });
});

it("when a person is deleted by an encoded identifier with a content type and no body, then 202 says ok", async () => {
  await wire.fixture().post("/v1/people", { email: "a+b@x.co", send: false });
  expect(await wire.send("DELETE /v1/people/email%3Aa%2Bb%40x.co")).toMatchObject({ status: 202, text: '{"ok":true}' });
  expect(await wire.fixture().get("/v1/people")).toEqual([]);
});

it("when a response is put without an id in the path and its person nested, then it changes", async () => {
  const person = await wire.fixture().post("/v1/people", { email: "a@x.co", send: false });
  const response = await wire.fixture().post("/v1/survey_responses", { person: person.id, score: 3 });
  const echoed = {
    ...response,
    person: { id: person.id, email: "a@x.co" },
    score: 9,
    permalink: "http://elsewhere",
    created_at: 1,
  };
  const answer = await wire.send("PUT /v1/survey_responses", JSON.stringify(echoed));
  expect(answer).toMatchObject({
    status: 200,
    json: { ...response, score: 9, permalink: expect.stringContaining(`${wire.url()}/r/`) },
  });
});

it("when expansions are repeated without brackets, then both count", async () => {
  const person = await wire.fixture().post("/v1/people", { email: "a@x.co", send: false });
  await wire.fixture().post("/v1/survey_responses", { person: person.id, score: 3 });
  const answer = await wire.send("GET /v1/survey_responses?expand=person&expand=notes");
  expect(answer.json).toMatchObject([{ person: { id: person.id, email: "a@x.co" }, notes: [] }]);
});

it("when pages follow the Link header, then it is absolute, on the host that was asked, and ends on the last page", async () => {
  for (const name of ["a", "b", "c"]) await wire.fixture().post("/v1/people", { email: `${name}@x.co`, send: false });
  const first = await wire.send("GET /v1/people?per_page=2");
  const next = /^<(.*)>; rel="next"$/.exec(first.headers.link ?? "")?.[1] ?? "";
  expect(next.startsWith(`${wire.url()}/v1/people?page_info=`)).toBe(true);
  const second = await wire.send(`GET ${next.slice(wire.url().length)}`);
  expect(second).toMatchObject({ status: 200, json: [{ email: "c@x.co" }] });
  expect(second.headers.link).toBeUndefined();
});
