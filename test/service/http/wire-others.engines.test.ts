import { expect, it } from "vitest";
import { BASIC, KEY } from "./fixture.ts";
import { useWire } from "./wire.ts";

const wire = useWire([]);

it.each([
  ["with an empty password", `${KEY}:`],
  ["without a colon", KEY],
  ["with a dash as the password", `${KEY}:-`],
  ["with any password", `${KEY}:a:b`],
])("when the key comes %s, then it opens", async (_, credentials) => {
  const authorization = `Authorization: Basic ${Buffer.from(credentials).toString("base64")}`;
  expect((await wire.send("GET /v1/people.json", undefined, [authorization])).status).toBe(200);
});

it("when `.json` is there and no Accept, then JSON comes", async () => {
  const answer = await wire.send("GET /v1/people.json", undefined, [`Authorization: ${BASIC}`]);
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
});

it("when a client repeats its own filters beside page_info, then the page comes", async () => {
  for (const name of ["a", "b", "c"]) await wire.fixture().post("/v1/people", { email: `${name}@x.co`, send: false });
  const first = await wire.send("GET /v1/people.json?per_page=1&since=1", undefined, [`Authorization: ${BASIC}`]);
  const next = /<(.*)>/.exec(first.headers.link ?? "")?.[1]?.slice(wire.url().length) ?? "";
  expect(next).toContain("per_page=1&since=1");
  const second = await wire.send(`GET ${next}&since=1&per_page=1`, undefined, [`Authorization: ${BASIC}`]);
  expect(second).toMatchObject({ status: 200, json: [{ email: "b@x.co" }] });
});

it("when page_info comes alone, then it still means the same list and page size", async () => {
  for (const name of ["a", "b", "c", "d"])
    await wire.fixture().post("/v1/people", { email: `${name}@x.co`, send: false });
  const first = await wire.send("GET /v1/people?per_page=2&until=9999999999", undefined, [`Authorization: ${BASIC}`]);
  const cursor = /page_info=([^&>]*)/.exec(first.headers.link ?? "")?.[1] ?? "";
  const second = await wire.send(`GET /v1/people?page_info=${cursor}`, undefined, [`Authorization: ${BASIC}`]);
  expect(second).toMatchObject({ json: [{ email: "c@x.co" }, { email: "d@x.co" }] });
});

it.each(["MTox.cGVyX3BhZ2U9M", "MTox.cGVyX3BhZ2U9MQ%20", "MTox.!", ".cGVyX3BhZ2U9MQ", "."])(
  "when page_info is damaged, as %s is, then it is 422 and not the list without its filters",
  async (cursor) => {
    const answer = await wire.send(`GET /v1/people?page_info=${cursor}`, undefined, [`Authorization: ${BASIC}`]);
    expect(answer).toMatchObject({ status: 422, json: { errors: { page_info: ["is invalid"] } } });
  },
);

it("when the published example's trailing comma is sent, then 400 says why", async () => {
  const answer = await wire.send("DELETE /v1/autopilot/email/memberships.json", '{"person_email":"a@x.co",}', [
    `Authorization: ${BASIC}`,
    "Content-Type: application/json",
  ]);
  expect(answer).toMatchObject({
    status: 400,
    json: { status: 400, message: expect.stringMatching(/^Bad Request: the body is not valid JSON/) },
  });
});

it("when ids are numbers, then they are taken and given back as text", async () => {
  const { id } = await wire.fixture().post("/v1/people", { email: "a@x.co", send: false });
  const body = JSON.stringify({ person: Number(id), score: 9 });
  const answer = await wire.send("POST /v1/survey_responses.json", body, [
    `Authorization: ${BASIC}`,
    "Content-Type: application/json",
  ]);
  expect(answer).toMatchObject({ status: 201, json: { person: id, score: 9 } });
});

it("when `curl -d` calls JSON a form, then it is read as JSON", async () => {
  const answer = await wire.send("POST /v1/people.json", '{"email":"a@x.co","send":false}', [
    `Authorization: ${BASIC}`,
    "Content-Type: application/x-www-form-urlencoded",
  ]);
  expect(answer).toMatchObject({ status: 201, json: { email: "a@x.co" } });
});

it("when old property names come, then they are kept as given and judged as the new ones", async () => {
  const long = "x".repeat(151);
  const answer = await wire.send(
    "POST /v1/people.json",
    JSON.stringify({ email: "a@x.co", properties: { delighted_email_subject: long } }),
    [`Authorization: ${BASIC}`, "Content-Type: application/json"],
  );
  expect(answer).toMatchObject({
    status: 422,
    json: { errors: { delighted_email_subject: ["is too long (maximum is 150 characters)"] } },
  });
});
