import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/contract/json.ts";
import {
  answer,
  cutShort,
  hangUp,
  json,
  reset,
  stall,
  type Behaviour,
  type SeenRequest,
} from "../../helpers/misbehaving-server.ts";
import { effectOf } from "../../../src/client/errors/call-errors.ts";
import type { Wait } from "../../../src/client/trace/trace.ts";
import { ROUTES } from "../../../src/contract/routes.ts";
import { failureOf, withServer, type Pair } from "../with-server.ts";

const EMAIL = "ann@example.com";
const SERVICE_NOW = Date.UTC(2031, 0, 1) / 1000;
const date = new Date(SERVICE_NOW * 1000).toUTCString();

const person = (fields: JsonObject): JsonObject => ({
  id: "7",
  email: EMAIL,
  last_sent_at: null,
  next_survey_scheduled_at: null,
  ...fields,
});

function service(
  writes: readonly Behaviour[],
  found: Behaviour | readonly JsonObject[],
): (request: SeenRequest) => Behaviour {
  let written = 0;
  return ({ method }) => {
    if (method === "GET") return typeof found === "function" ? found : json(found, { date });
    written += 1;
    return writes[Math.min(written, writes.length) - 1] ?? stall;
  };
}

const posts = ({ seen }: Pair): number => seen().filter((line) => line.startsWith("POST")).length;
const lookUps = ({ seen }: Pair): string[] => seen().filter((line) => line.startsWith("GET"));

const ambiguous: [string, Behaviour][] = [
  ["a reset", reset],
  ["a hung up connection", hangUp],
  ["408", answer(408, "")],
  ["500", answer(500, "{}")],
  ["502 HTML", answer(502, "<html>", { "content-type": "text/html" })],
  ["503 without Retry-After", answer(503, "")],
  ["504", answer(504, "")],
  ["520", answer(520, "")],
  ["a 2xx cut short", cutShort('{"id"')],
  ["a 2xx that is HTML", answer(200, "<html>")],
  ["an empty 2xx", answer(200, "")],
  ["a 2xx of another shape", json(["fine"])],
  ["202 and a word", answer(202, "accepted", { "content-type": "text/plain" })],
  ["204", answer(204, "", { "content-length": null })],
  ["a 2xx that tells an error", json({ error: "no credit" })],
  ["a 2xx with the id of nothing", json({ id: null, email: "bob@example.com" })],
];

describe("sending a survey", () => {
  it.each(ambiguous)(
    "when the answer is %s and the person has a survey that fits, then it arrived and is not repeated",
    async (_, lost) => {
      const found = person({ next_survey_scheduled_at: SERVICE_NOW + 60 });
      const pair = await withServer(service([lost], [found]));
      expect(await pair.client.sendPerson({ email: EMAIL, delay: 60 })).toEqual({
        kind: "arrived",
        evidence: "the person's next survey is scheduled at 2031-01-01T00:01:00Z, as this request asked",
        found,
      });
      expect(posts(pair)).toBe(1);
      expect(lookUps(pair)).toEqual([`GET /v1/people.json?email=${encodeURIComponent(EMAIL)}`]);
    },
  );

  it("when the person was sent a survey since, then it arrived", async () => {
    const found = person({ last_sent_at: SERVICE_NOW });
    const pair = await withServer(service([reset], [found]));
    expect(await pair.client.sendPerson({ email: EMAIL })).toEqual({
      kind: "arrived",
      evidence: "the person was last sent a survey at 2031-01-01T00:00:00Z, after this request began",
      found,
    });
  });

  it("when the intent was long ago, then that is what counts", async () => {
    const found = person({ next_survey_scheduled_at: SERVICE_NOW - 3000 });
    const pair = await withServer(service([reset], [found]));
    const result = await pair.client.sendPerson({ email: EMAIL }, { intentAt: SERVICE_NOW - 3600 });
    expect(result.kind).toBe("arrived");
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["has no survey", {}, {}],
    ["was sent one in the service's future", { last_sent_at: SERVICE_NOW + 60 }, {}],
    ["was sent one before", { last_sent_at: SERVICE_NOW - 100 }, {}],
    ["has one scheduled from before", { next_survey_scheduled_at: SERVICE_NOW - 100 }, {}],
    ["has one scheduled far ahead", { next_survey_scheduled_at: SERVICE_NOW + 9000 }, {}],
    ["has one that does not fit the delay", { next_survey_scheduled_at: SERVICE_NOW }, { delay: 600 }],
    [
      "has the very last_sent_at that was sent along",
      { last_sent_at: SERVICE_NOW + 5 },
      { last_sent_at: SERVICE_NOW + 5 },
    ],
  ])("when the person %s, then it is unknown and never repeated", async (_, fields, body) => {
    const pair = await withServer(service([reset], [person(fields)]));
    const result = await pair.client.sendPerson({ email: EMAIL, ...body });
    expect(result).toMatchObject({ kind: "unknown", error: { name: "UnknownOutcomeError", code: "outcome_unknown" } });
    expect(posts(pair)).toBe(1);
  });

  it.each(ambiguous)(
    "when the answer is %s and nobody is there until the settling time is over, then it is unknown and never repeated",
    async (_, lost) => {
      const pair = await withServer(service([lost, json({ id: "7" }, {}, 201)], []));
      const result = await pair.client.sendPerson({ email: EMAIL });
      expect(result).toMatchObject({ kind: "unknown", error: { code: "outcome_unknown" } });
      expect(posts(pair)).toBe(1);
      expect(lookUps(pair)).toHaveLength(7);
      expect(pair.clock.sleeps.map((ms) => Math.round(ms))).toEqual([500, 1000, 2000, 4000, 8000, 14_500]);
    },
  );

  it("when the settling time is 0, then one look is all", async () => {
    const pair = await withServer(service([reset], []), { client: { settleMs: 0 } });
    expect((await pair.client.sendPerson({ email: EMAIL })).kind).toBe("unknown");
    expect([posts(pair), lookUps(pair).length, pair.clock.sleeps]).toEqual([1, 1, []]);
  });

  it.each<[string, readonly JsonObject[]]>([
    ["is not there at first", []],
    ["is there from before at first", [person({ last_sent_at: SERVICE_NOW - 9000 })]],
  ])("when the person %s and has a survey that fits later, then it arrived", async (_, before) => {
    let looks = 0;
    const found = person({ last_sent_at: SERVICE_NOW });
    const pair = await withServer(
      service([answer(504, "")], (...at) => json((looks += 1) < 4 ? before : [found], { date })(...at)),
    );
    expect(await pair.client.sendPerson({ email: EMAIL })).toMatchObject({ kind: "arrived", found });
    expect([posts(pair), lookUps(pair).length]).toEqual([1, 4]);
  });

  it("when the checks begin, then that is told once, with the cause", async () => {
    const waits: Wait[] = [];
    const pair = await withServer(service([answer(504, "")], []), {
      client: { onWait: (wait) => void waits.push(wait), settleMs: 5000 },
    });
    await pair.client.sendPerson({ email: EMAIL });
    expect(waits).toEqual([
      {
        kind: "check",
        waitMs: 5000,
        reason: "the service answered 504",
        cause: "service_failed 504",
        isNews: true,
      },
    ]);
  });

  it("when repeats after 503 with Retry-After end, then it is looked up", async () => {
    const busy = answer(503, "", { "retry-after": "1" });
    const pair = await withServer(service([busy], []), { client: { policy: { retries: 1 }, settleMs: 0 } });
    expect((await pair.client.sendPerson({ email: EMAIL })).kind).toBe("unknown");
    expect([posts(pair), lookUps(pair).length]).toEqual([2, 1]);
  });

  it("when the last of several tries did not leave, then an earlier one still counts", async () => {
    const busy = answer(503, "", { "retry-after": "1", connection: "close" });
    const pair = await withServer(
      () => (socket, request) => {
        void busy(socket, request);
        socket.end();
        void pair.server.stop();
      },
      { client: { policy: { retries: 1 }, settleMs: 0 } },
    );
    expect(await pair.client.sendPerson({ email: EMAIL })).toMatchObject({ kind: "unknown" });
  });

  it("when it has an address and a number, then the look-up asks for both", async () => {
    const phone = "+1 415 555 0100";
    const both = { email: EMAIL, phone_number: "+14155550100", channel: "sms" };
    const found = person({ email: "other@example.com", phone_number: phone, last_sent_at: SERVICE_NOW });
    const pair = await withServer(({ method, target }) =>
      method === "POST" ? reset : json(target.includes("phone_number=") ? [found] : [], { date }),
    );
    expect(await pair.client.sendPerson(both)).toMatchObject({ kind: "arrived", found });
    expect(lookUps(pair)).toEqual([
      "GET /v1/people.json?email=ann%40example.com",
      "GET /v1/people.json?phone_number=%2B14155550100",
    ]);
    expect(await pair.client.lookUpPerson(both, { intentAt: SERVICE_NOW + 9 })).toMatchObject({ kind: "unsettled" });
  });

  it.each(["ANN@example.com ", "ann@EXAMPLE.com", "ａnn@example.com"])(
    "when the service writes the address as %j, then it is the same person",
    async (email) => {
      const found = person({ email, last_sent_at: SERVICE_NOW });
      const pair = await withServer(service([reset], [found]));
      expect(await pair.client.sendPerson({ email: EMAIL })).toMatchObject({ kind: "arrived", found });
    },
  );

  it("when the service keeps addresses in lower case and compares them exactly, then the person is found", async () => {
    const found = person({ last_sent_at: SERVICE_NOW });
    const pair = await withServer(({ method, target }) =>
      method === "POST" ? reset : json(target.endsWith("=ann%40example.com") ? [found] : [], { date }),
    );
    expect(await pair.client.sendPerson({ email: "Ann@Example.com" })).toMatchObject({ kind: "arrived", found });
    expect(lookUps(pair)).toEqual([
      "GET /v1/people.json?email=Ann%40Example.com",
      "GET /v1/people.json?email=ann%40example.com",
    ]);
  });

  it("when times are text, then they are read as times", async () => {
    const found = person({ last_sent_at: String(SERVICE_NOW) });
    const pair = await withServer(service([reset], [found]));
    expect((await pair.client.sendPerson({ email: EMAIL })).kind).toBe("arrived");
  });

  it("when the answer has no id but the address that was sent, then it is an answer", async () => {
    const pair = await withServer([json({ email: "Ann@Example.com" })]);
    expect((await pair.client.sendPerson({ email: EMAIL })).kind).toBe("answered");
  });

  it.each<[string, Behaviour]>([
    ["fails", answer(422, '{"error":"no"}')],
    ["is refused", answer(401, "")],
    ["makes no sense", json({ people: [] })],
    ["shows others, the filter ignored", json([person({ email: "bob@example.com" })], { date })],
    ["tells no time", answer(200, JSON.stringify([person({ last_sent_at: 9e9 })]), { date: null })],
  ])("when the look-up %s, then it is unknown", async (_, found) => {
    const pair = await withServer(service([reset], found), { client: { policy: { retries: 1 } } });
    expect((await pair.client.sendPerson({ email: EMAIL })).kind).toBe("unknown");
    expect(posts(pair)).toBe(1);
  });

  it("when a phone names the person, then the look-up asks for the phone", async () => {
    const pair = await withServer(service([reset], []), { client: { settleMs: 0 } });
    await pair.client.sendPerson({ phone_number: "+15555550100", channel: "sms" });
    expect(lookUps(pair)).toEqual(["GET /v1/people.json?phone_number=%2B15555550100"]);
  });

  it.each<[string, Behaviour, number[]]>([
    ["429 with seconds", answer(429, "", { "retry-after": "7" }), [7000]],
    [
      "429 with a date",
      answer(429, "", { date, "retry-after": new Date((SERVICE_NOW + 9) * 1000).toUTCString() }),
      [9000],
    ],
    ["429 alone", answer(429, ""), [200]],
    ["503 with Retry-After", answer(503, "", { "retry-after": "3" }), [3000]],
  ])("when the answer is %s, then it is repeated without a look-up", async (_, busy, waits) => {
    const pair = await withServer(service([busy, json({ id: "7" })], []));
    expect((await pair.client.sendPerson({ email: EMAIL })).kind).toBe("answered");
    expect(lookUps(pair)).toEqual([]);
    expect(pair.clock.sleeps.slice(0, 1)).toEqual(waits);
  });

  it.each<[string, Behaviour]>([
    ["422", json({ message: "no" }, {}, 422)],
    ["409", json({}, {}, 409)],
    ["302", answer(302, "", { location: "/x" })],
  ])("when the answer is %s, then it is refused at once", async (_, refusal) => {
    const pair = await withServer(service([refusal], []));
    await failureOf(pair.client.sendPerson({ email: EMAIL }));
    expect(pair.seen()).toEqual(["POST /v1/people.json"]);
  });

  it("when it is aborted, then the reason comes, whatever else is under way", async () => {
    const control = new AbortController();
    const pair = await withServer(({ method }) => (method === "POST" ? reset : () => control.abort(new Error("stop"))));
    expect((await failureOf(pair.client.sendPerson({ email: EMAIL }, { signal: control.signal }))).message).toBe(
      "stop",
    );
  });
});

describe("saving a person", () => {
  const passing = ambiguous.filter(([name]) => !/^(?:520|20\d|a 2xx|an empty)/.test(name));

  it.each(passing)("when the answer is %s, then it is simply repeated", async (_, lost) => {
    const pair = await withServer(service([lost, json({ id: "7" })], []));
    const result = await pair.client.sendPerson({ email: EMAIL, send: false });
    expect(result.kind).toBe("answered");
    expect(lookUps(pair)).toEqual([]);
  });
});

const directory = (...emails: string[]): ((request: SeenRequest) => Behaviour) => {
  let written = 0;
  return ({ method, target }) => {
    if (method === "POST") return (written += 1) === 1 ? reset : json({ id: "7" });
    const asked = new URL(target, "http://x").searchParams.get("email") ?? "";
    return json(emails.includes(asked) ? [person({ email: asked })] : [], { date });
  };
};

describe("renaming a person", () => {
  const NEW = "new@example.com";
  const rename = { email: EMAIL, email_update: NEW, send: false };
  it.each([
    { there: [NEW], kind: "arrived", writes: 1 },
    { there: [EMAIL], kind: "unknown", writes: 1 },
    { there: [], kind: "unknown", writes: 1 },
    { there: [EMAIL, NEW], kind: "unknown", writes: 1 },
  ])("when the answer is lost and $there are there, then it is $kind", async ({ there, kind, writes }) => {
    const pair = await withServer(directory(...there));
    expect((await pair.client.sendPerson(rename)).kind).toBe(kind);
    expect(posts(pair)).toBe(writes);
  });
});

describe("adding a response", () => {
  const body = { person: "7", score: 9, comment: "good" };
  const response = (fields: JsonObject): JsonObject => ({
    id: "1",
    person: "7",
    score: 9,
    comment: "good",
    created_at: SERVICE_NOW,
    updated_at: SERVICE_NOW,
    ...fields,
  });

  it.each<[string, JsonObject, JsonObject, string]>([
    ["the same was stored since", {}, {}, "arrived"],
    ["the same was stored since, its person expanded", {}, { person: { id: 7, name: null } }, "arrived"],
    ["the same was stored before", {}, { created_at: SERVICE_NOW - 50, updated_at: SERVICE_NOW - 50 }, "unknown"],
    ["another score was stored since", {}, { score: 3 }, "unknown"],
    ["the same was stored in the service's future", {}, { updated_at: SERVICE_NOW + 60 }, "unknown"],
    ["another comment was stored since", {}, { comment: null }, "unknown"],
    ["a back-dated one was stored since", { created_at: 1000 }, { created_at: 1000 }, "arrived"],
    ["a back-dated one was stored before", { created_at: 1000 }, { created_at: 1000, updated_at: 2000 }, "unknown"],
    ["a back-dated one does not say when", { created_at: 1000 }, { created_at: 1000, updated_at: 1000 }, "unknown"],
    ["a back-dated one has no update", { created_at: 1000 }, { created_at: 1000, updated_at: null }, "unknown"],
    ["it is another person's", {}, { person: "8" }, "unknown"],
  ])("when the answer is lost and %s", async (_, extra, fields, kind) => {
    const pair = await withServer(service([reset, json({ id: "1" }, {}, 201)], [response(fields)]));
    expect((await pair.client.addResponse({ ...body, ...extra })).kind).toBe(kind);
    expect(posts(pair)).toBe(1);
  });

  it.each([...ambiguous, ["a 2xx that is the person alone", json({ person: "7" })] as [string, Behaviour]])(
    "when the answer is %s and no such response is found, then it is unknown and never repeated",
    async (_, lost) => {
      const pair = await withServer(service([lost, json({ id: "1" })], []));
      expect((await pair.client.addResponse(body)).kind).toBe("unknown");
      expect(posts(pair)).toBe(1);
    },
  );

  it("when it was back-dated, then only that second is looked through", async () => {
    const pair = await withServer(service([reset, json({})], []));
    await pair.client.addResponse({ ...body, created_at: 1000 });
    expect(new Set(lookUps(pair))).toEqual(
      new Set(["GET /v1/survey_responses.json?person_id=7&per_page=100&since=1000&until=1000&page=1"]),
    );
  });

  it("when no answer came in time and it is not there yet, then it may still come", async () => {
    const pair = await withServer(service([stall], []), { transport: { timeoutMs: 40 } });
    expect(await pair.client.addResponse(body)).toMatchObject({ kind: "unknown" });
    expect(posts(pair)).toBe(1);
  });
});

describe("Autopilot and removals", () => {
  it("when adding a member is lost, then it is repeated", async () => {
    const pair = await withServer(
      service([reset, answer(502, ""), json({ person: { id: 7 }, properties: {} }, {}, 201)], []),
    );
    expect((await pair.client.addMember("email", { person_email: EMAIL })).kind).toBe("answered");
    expect(posts(pair)).toBe(3);
  });

  it("when a removal is lost and its repeat finds nothing, then the first arrived", async () => {
    const pair = await withServer([reset, answer(404, "")]);
    expect(await pair.client.removeMember("email", { person_email: EMAIL })).toEqual({
      kind: "arrived",
      evidence: "the repeat found nothing left to remove",
      found: {},
    });
  });

  it("when a removal finds nothing at once, then that is an error", async () => {
    const pair = await withServer([answer(404, "")]);
    expect(await failureOf(pair.client.removeMember("email", { person_email: EMAIL }))).toMatchObject({
      name: "RefusedError",
      status: 404,
    });
    expect(pair.seen()).toEqual(["DELETE /v1/autopilot/email/memberships.json"]);
  });

  it.each<[string, Behaviour]>([
    ["is empty", answer(200, "")],
    ["tells an error", json({ error: "no credit" })],
    ["shows somebody else", json({ person: { email: "bob@example.com" } })],
  ])("when an idempotent write's success %s, then it is unknown rather than failed", async (_, odd) => {
    const pair = await withServer([odd]);
    expect((await pair.client.addMember("email", { person_email: EMAIL })).kind).toBe("unknown");
    expect(posts(pair)).toBe(1);
  });

  it("when the repeats of an idempotent write end, then it rejects with the last failure", async () => {
    const pair = await withServer([answer(500, "")]);
    const error = await failureOf(pair.client.addMember("email", { person_email: EMAIL }));
    expect([error.name, effectOf(error), posts(pair)]).toEqual(["ServiceError", "unknown", 6]);
  });
});

describe("looking up without sending", () => {
  it("when a run is resumed, then the evidence is asked for and nothing is written", async () => {
    const found = person({ next_survey_scheduled_at: SERVICE_NOW - 10 });
    const pair = await withServer(service([], [found]));
    expect(await pair.client.lookUpPerson({ email: EMAIL }, { intentAt: SERVICE_NOW - 20 })).toMatchObject({
      kind: "arrived",
    });
    expect(await pair.client.lookUpPerson({ email: EMAIL }, { intentAt: SERVICE_NOW })).toMatchObject({
      kind: "unsettled",
    });
    expect(await pair.client.lookUpPerson({ email: "x@y.z" }, { intentAt: 0 })).toMatchObject({ kind: "unsettled" });
    expect(posts(pair)).toBe(0);
  });

  it.each([
    { sentAgo: 3600, looks: 1 },
    { sentAgo: 30, looks: 1 },
    { sentAgo: 28, looks: 4 },
    { sentAgo: 0, looks: 7 },
    { sentAgo: -3600, looks: 7 },
  ])(
    "when the last try was $sentAgo s ago, then absence is believed after $looks looks",
    async ({ sentAgo, looks }) => {
      const pair = await withServer(service([], []));
      await pair.client.page({ route: ROUTES.listPeople, parameters: { per_page: 1 } });
      const now = pair.client.serverNow();
      const options = { intentAt: now - 7200, sentBy: now - sentAgo };
      expect((await pair.client.lookUpPerson({ email: EMAIL }, options)).kind).toBe("absent");
      expect(lookUps(pair)).toHaveLength(1 + looks);
    },
  );

  it("when the service has told its time, then serverNow is that time", async () => {
    const pair = await withServer([json({}, { date })]);
    expect(pair.client.serverNow()).toBe(Math.floor(pair.clock.now() / 1000));
    await pair.client.getMetrics({});
    expect(pair.client.serverNow()).toBe(SERVICE_NOW);
  });
});
