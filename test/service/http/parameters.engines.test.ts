import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { START } from "../domain/fixture.ts";
import { openHttp, type Answer, type HttpFixture } from "./fixture.ts";

const state: { http?: HttpFixture } = {};
const http = (): HttpFixture => state.http as HttpFixture;
beforeEach(async () => {
  state.http = await openHttp();
});
afterEach(() => http().store.close());

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const form = (method: string, path: string, body: string): Promise<Answer> =>
  http().call(method, path, { body, headers: FORM });

const sentAt = (last_sent_at: number): Promise<Answer> =>
  http().call("POST", "/v1/people", { body: { email: "a@x.co", send: false, last_sent_at } });

const sendJson = (rest: string): Promise<Answer> =>
  http().call("POST", "/v1/people", { body: `{"email":"a@x.co","send":false,${rest}}` });

async function addResponses(count: number): Promise<string> {
  const { id } = await http().post("/v1/people", { email: "a@x.co", send: false });
  for (let score = 0; score < count; score += 1) await http().post("/v1/survey_responses", { person: id, score });
  return String(id);
}

describe("maps and arrays", () => {
  it.each([
    ["as JSON", { "properties[plan]": "pro" }, { plan: "pro" }],
    ["beside a map", { properties: { a: 1 }, "properties[plan]": "pro" }, { a: 1, plan: "pro" }],
    ["with a dangerous name", { "properties[__proto__]": "x", properties: {} }, {}],
  ])("when bracketed names stand in a JSON body %s, then they count", async (_, given, properties) => {
    const sent = await http().post("/v1/people", { email: "a@x.co", send: false, ...given });
    expect(sent.properties).toEqual(properties);
  });

  it("when a form or a query holds a map as JSON, then it is read", async () => {
    const map = encodeURIComponent('{"plan":"pro"}');
    const inForm = await form("POST", "/v1/people", `email=a@x.co&send=false&properties=${map}`);
    const inQuery = await http().call("POST", `/v1/people?email=b@x.co&send=false&properties=${map}`);
    expect([inForm, inQuery].map(({ json }) => json)).toMatchObject([
      { properties: { plan: "pro" } },
      { properties: { plan: "pro" } },
    ]);
  });

  it("when a form repeats expand, then all of them count", async () => {
    await addResponses(1);
    const [{ id } = { id: "" }] = (await http().get("/v1/survey_responses")) as { id: string }[];
    const { json } = await form("PUT", `/v1/survey_responses/${id}`, "score=3&expand=notes&expand=person");
    expect(json).toMatchObject({ score: 3, person: { email: "a@x.co" }, notes: [] });
  });
});

describe("numbers", () => {
  it.each(["101", "9007199254740993", "99999999999999999999999999"])(
    "when per_page is %s, then it is 100",
    async (size) => {
      await addResponses(3);
      expect(await http().get(`/v1/survey_responses?per_page=${size}`)).toHaveLength(3);
      expect(await http().get(`/v1/survey_responses?page=${size}`)).toEqual([]);
    },
  );

  it.each(["per_page=", "page=", "per_page=%207", "per_page=7%20", "page=1.5", "page=-99999999999999999999"])(
    "when a list is asked with %s, then it is 422",
    async (query) => {
      expect((await http().call("GET", `/v1/survey_responses?${query}`)).status).toBe(422);
    },
  );

  it.each([2 ** 53, 1e300, "9007199254740993"])(
    "when delay is %s, then the survey waits as long as can be",
    async (delay) => {
      const { survey_scheduled_at } = await http().post("/v1/people", { email: "a@x.co", delay });
      expect(survey_scheduled_at).toBe(Number.MAX_SAFE_INTEGER);
    },
  );

  it.each([
    ["12345678901234567890", "12345678901234567890"],
    ["-9007199254740993", "-9007199254740993"],
    ["9007199254740991", 9_007_199_254_740_991],
    ["0.1234567890123456", 0.1234567890123456],
    ["1e-0000000000000003", 0.001],
    ['"\\"1234567890123456789"', '"1234567890123456789'],
    ['[1,{"id":12345678901234567890}]', [1, { id: "12345678901234567890" }]],
  ])("when a property is %s, then every digit is kept", async (given, kept) => {
    expect((await sendJson(`"properties":{"order":${given}}`)).json).toMatchObject({ properties: { order: kept } });
    const map = encodeURIComponent(`{"order":${given}}`);
    const inQuery = await http().call("POST", `/v1/people?email=a@x.co&send=false&properties=${map}`);
    expect(inQuery.json).toMatchObject({ properties: { order: kept } });
  });

  it.each([
    ['"properties":{"order":1e400}', { properties: ["holds values that cannot be kept"] }],
    ['"name":1e400', { name: ["must be text"] }],
  ])("when a number is beyond all bounds, as in %s, then it is 422", async (rest, errors) => {
    expect((await sendJson(rest)).json).toMatchObject({ status: 422, errors });
  });

  it.each(["-1", '"soon"', "1.5"])("when nothing is sent, then a delay of %s is ignored", async (delay) => {
    expect((await sendJson(`"delay":${delay}`)).status).toBe(201);
  });

  it("when last_sent_at is more than a day ahead, then it is 422, and a day ahead is taken", async () => {
    expect((await sentAt(START + 86_401)).json).toMatchObject({
      errors: { last_sent_at: ["must not be more than a day ahead"] },
    });
    expect((await sentAt(START + 86_400)).status).toBe(201);
  });
});

describe("filters by a person", () => {
  it.each([
    "people?email=not-an-email",
    "people?email=",
    "people?phone_number=555",
    "people?phone_number=",
    "people?email=a@x.co%00",
    "survey_responses?person_email=nix",
    "survey_responses?person_email=",
    "survey_responses?person_id=abc",
    "survey_responses?person_id=",
    "autopilot/email/memberships?person_email=nix",
    "autopilot/email/memberships?person_id=",
    "autopilot/email/memberships?person_phone_number=555",
  ])("when %s is asked, then nobody is found", async (path) => {
    await addResponses(1);
    await http().post("/v1/autopilot/email/memberships", { person_email: "a@x.co" });
    expect(await http().get(`/v1/${path}`)).toEqual([]);
  });
});

describe("what is stored", () => {
  it.each(["", null, "no", 2])("when send is %j, then nothing is sent and it is 422", async (send) => {
    const answer = await http().call("POST", "/v1/people", { body: { email: "a@x.co", send } });
    expect(answer.json).toMatchObject({ status: 422, errors: { send: ["must be true or false"] } });
    expect(await http().get("/v1/people")).toEqual([]);
  });

  it.each<[string, string, Record<string, unknown>, Record<string, string[]>]>([
    [
      "a name",
      "people",
      { email: "a@x.co", name: "ä".repeat(256) },
      { name: ["is too long (maximum is 255 characters)"] },
    ],
    [
      "properties",
      "people",
      { email: "a@x.co", properties: { a: "é".repeat(32_768) } },
      { properties: ["is too large (maximum is 65536 bytes)"] },
    ],
    [
      "a comment",
      "survey_responses",
      { person: "1", score: 1, comment: `${"é".repeat(32_768)}x` },
      { comment: ["is too long (maximum is 65536 bytes)"] },
    ],
    ["half a character", "people", { email: "a@x.co", name: "\uD800" }, { name: ["must be valid Unicode text"] }],
    [
      "half a character inside a map",
      "people",
      { email: "a@x.co", properties: { "\uDC00": 1 } },
      { properties: ["holds values that cannot be kept"] },
    ],
    [
      "half a character in an address",
      "people",
      { email: "sur\uD800@x.co" },
      { email: ["must be valid Unicode text"] },
    ],
  ])("when there is %s beyond its bounds, then it is 422", async (_, path, body, errors) => {
    await http().post("/v1/people", { email: "first@x.co", send: false });
    expect((await http().call("POST", `/v1/${path}`, { body })).json).toMatchObject({ status: 422, errors });
  });

  it.each<[string, string, Record<string, string[]>]>([
    ["a name", "name=Jos%E9", { name: ["must be valid Unicode text"] }],
    ["an address", "email=jos%E9@x.co", { email: ["must be valid Unicode text"] }],
    ["a property", "properties[name]=Jos%E9", { properties: ["holds values that cannot be kept"] }],
    ["a property's name", "properties[Stra%DFe]=x", { properties: ["holds values that cannot be kept"] }],
  ])("when the bytes of %s are no UTF-8, then it is 422 and nothing is stored", async (_, pair, errors) => {
    const pairs = `email=a@x.co&send=false&${pair}`;
    for (const answer of [await form("POST", "/v1/people", pairs), await http().call("POST", `/v1/people?${pairs}`)])
      expect(answer.json).toMatchObject({ status: 422, errors });
    expect(await http().get("/v1/people")).toEqual([]);
  });

  it("when a form has a lone percent sign or a replacement character, then it is kept", async () => {
    const { json } = await form("POST", "/v1/people", "email=a@x.co&send=false&name=100%&properties[a]=%EF%BF%BD%ZZ");
    expect(json).toMatchObject({ name: "100%", properties: { a: "\uFFFD%ZZ" } });
  });

  it("when texts reach their bounds, then they are kept whole", async () => {
    const name = "ä".repeat(255);
    const { id } = await http().post("/v1/people", { email: "a@x.co", send: false, name });
    const given = { comment: "é".repeat(32_768), person_properties: { a: "x".repeat(65_528) } };
    expect(await http().post("/v1/survey_responses", { person: id, score: 1, ...given })).toMatchObject(given);
    expect(await http().get("/v1/people")).toMatchObject([{ name }]);
  });
});

it("when additional answers are not as responses show them, or too large, then it is 422 and nothing is stored", async () => {
  const { id } = await http().post("/v1/people", { email: "a@x.co", send: false });
  const question = { id: "q1", type: "free_response", text: "Why?" };
  const add = (value: unknown) => {
    const body = { person: id, score: 1, additional_answers: [{ id: "1", value, question }] };
    return http().call("POST", "/v1/survey_responses", { body });
  };
  const shape = "must be answers with id, value and question, as responses show them";
  const tooLarge = "is too large (maximum is 131072 bytes)";
  for (const [value, phrase] of [
    [{ scale: "5" }, shape],
    [{ free_response: "x".repeat(131_072) }, tooLarge],
  ] as const)
    expect((await add(value)).json).toMatchObject({ status: 422, errors: { additional_answers: [phrase] } });
  expect(await http().get("/v1/survey_responses")).toEqual([]);
  const value = { free_response: "Slow", scale: null, select_one: null, select_many: null };
  expect((await add({ free_response: "Slow" })).json).toMatchObject({
    additional_answers: [{ id: "1", value, question }],
  });
});

it("when answers by question make additional answers too large, then it is 422 and nothing is stored", async () => {
  const { id } = await http().post("/v1/people", { email: "a@x.co", send: false });
  const add = (answers: object, given: object = {}) =>
    http().call("POST", "/v1/survey_responses", { body: { person: id, score: 1, answers, ...given } });
  const short = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`q${n}`, "a"]));
  const question = { id: "why", type: "free_response", text: "Why?" };
  const long = [{ id: "1", value: { free_response: "x".repeat(130_000) }, question }];
  const tooLarge = { answers: ["are too large as additional answers (maximum is 131072 bytes)"] };
  expect((await add(short)).json).toMatchObject({ status: 422, errors: tooLarge });
  const both = await add({ other: "x".repeat(2000) }, { additional_answers: long });
  expect(both.json).toMatchObject({ status: 422, errors: tooLarge });
  expect(await http().get("/v1/survey_responses")).toEqual([]);
  expect((await add({ other: "a" }, { additional_answers: long })).status).toBe(201);
});

it("when an address changes with send=false, then nothing else does", async () => {
  await http().post("/v1/people", { email: "a@x.co", name: "Ada", phone_number: "+14155550101", send: false });
  await http().post("/v1/people", {
    email: "a@x.co",
    email_update: "b@x.co",
    phone_number: "+14155550101",
    name: "Eve",
    last_sent_at: 1_700_000_000,
    send: false,
  });
  expect(await http().get("/v1/people")).toMatchObject([
    { email: "b@x.co", name: "Ada", phone_number: "+14155550101", last_sent_at: null },
  ]);
});

describe("tags and notes of a response", () => {
  type Row = Record<string, unknown> & { readonly id: string };
  const put = async (id: string, body: unknown): Promise<Row> => {
    http().time.now += 10;
    const answer = await http().call("PUT", `/v1/survey_responses/${id}`, { body });
    expect(answer.status).toBe(200);
    return answer.json as Row;
  };
  const list = async (query = ""): Promise<Row[]> => (await http().get(`/v1/survey_responses${query}`)) as Row[];
  const first = async (): Promise<Row> => {
    await addResponses(1);
    const [row] = await list();
    return row as Row;
  };

  it("when tags are put, then they are the full list, and a note is appended", async () => {
    const { id } = await first();
    await put(id, { tags: ["vip", "vip", "a,b"], notes: "called back" });
    const changed = await put(id, { tags: ["late"], notes: "sent flowers" });
    const user_email = "api@localhost";
    expect(changed).toMatchObject({
      tags: ["late"],
      updated_at: START + 20,
      notes: [
        { id: expect.any(String), text: "called back", user_email, created_at: START + 10 },
        { id: expect.any(String), text: "sent flowers", user_email, created_at: START + 20 },
      ],
    });
    expect(await list()).toEqual([changed]);
    expect(await list("?expand[]=person")).toMatchObject([
      { notes: (changed["notes"] as Row[]).map((note) => note.id), tags: ["late"] },
    ]);
  });

  it.each(["", "?expand[]=person"])(
    "when a row of the list%s is put back whole, then nothing changes",
    async (query) => {
      const { id } = await first();
      await put(id, { tags: ["vip"], notes: "called back" });
      const [row] = await list(query);
      await put(id, { ...row, expand: ["person"] });
      expect(await list(query)).toEqual([row]);
    },
  );

  it.each([
    ["tags[]=a&tags[]=b%2Cc", ["a", "b,c"]],
    ["tags=a,b", ["a", "b"]],
    ["tags=a&tags=b", ["a", "b"]],
    ["tags%5B0%5D=a&tags%5B1%5D=b", ["a", "b"]],
    ["tags=", []],
    ["score=3", ["old"]],
  ])("when a form says %s, then the tags are %j", async (body, tags) => {
    const { id } = await first();
    await put(id, { tags: ["old"] });
    expect((await form("PUT", `/v1/survey_responses/${id}`, body)).json).toMatchObject({ tags });
  });

  it.each<[string, unknown, Record<string, string[]>]>([
    [
      "101 tags",
      { tags: Array.from({ length: 101 }, (_item, index) => `tag ${index}`) },
      { tags: ["are too many (maximum is 100)"] },
    ],
    ["a long tag", { tags: ["x".repeat(256)] }, { tags: ["are too long (maximum is 255 characters)"] }],
    ["a tag that is no text", { tags: [{ a: 1 }] }, { tags: ["must be a list of texts"] }],
    ["a long note", { notes: "x".repeat(65_537) }, { notes: ["is too long (maximum is 65536 bytes)"] }],
  ])("when there is %s, then it is 422", async (_, body, errors) => {
    const { id } = await first();
    expect((await http().call("PUT", `/v1/survey_responses/${id}`, { body })).json).toMatchObject({ errors });
  });

  it("when notes would grow without end, then they are full", async () => {
    const { id } = await first();
    for (let count = 0; count < 3; count += 1) await put(id, { notes: "x".repeat(65_536) });
    const body = { notes: "x".repeat(65_536) };
    expect((await http().call("PUT", `/v1/survey_responses/${id}`, { body })).json).toMatchObject({
      errors: { notes: ["are full (maximum is 262144 characters in all)"] },
    });
  });
});

it("when a waiting Autopilot survey is cancelled, then the membership says when it was rescheduled", async () => {
  await http().post("/v1/autopilot/email/memberships", { person_email: "a@x.co" });
  http().time.now += 60;
  expect((await http().call("DELETE", "/v1/people/a@x.co/survey_requests/pending")).status).toBe(202);
  expect(await http().get("/v1/autopilot/email/memberships")).toMatchObject([
    { created_at: START, updated_at: START + 60 },
  ]);
});

it("when a survey is scheduled, then the scheduler is told when it is due, and otherwise nothing", async () => {
  await http().post("/v1/people", { email: "a@x.co", delay: 86_400 });
  await http().post("/v1/people", { email: "b@x.co", send: false });
  await http().post("/v1/autopilot/email/memberships", { person_email: "b@x.co" });
  expect(http().state.scheduled).toEqual([START + 86_400, undefined]);
});
