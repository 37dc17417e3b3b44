/** Runs every operation over HTTP and in process; both must have the same result and log line. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from "vitest";
import type { Json, JsonObject } from "../../../src/contract/json.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import type { UnconfirmedError } from "../../../src/service/domain/errors.ts";
import type { Admin } from "../../../src/service/operations/index.ts";
import { settleClaim } from "../../../src/service/domain/delivery/claims.ts";
import { answering, type HookReceiver, startHookReceiver } from "../../helpers/hook-receiver.ts";
import { type EmbeddedService, openEmbeddedService } from "../../helpers/embedded-service.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");
const clock = { ...systemClock, now: () => NOW };

const PATIENCE_MS = 240_000;

/** The order matters. `{key.add}` is the id that `key.add` returned. */
const CALLS: readonly (readonly [name: string, input: JsonObject])[] = [
  ["key.add", { name: "ci", expires: "90d" }],
  ["key.list", {}],
  ["key.rotate", { id: "ci", revoke_after: "24h" }],
  ["key.revoke", { id: "{key.rotate}", confirm: true }],
  ["throttle", { interval: "90d" }],
  ["throttle", { interval: 7_776_000 }],
  ["throttle", {}],
  ["reminder", { after: "5d" }],
  ["autopilot", { platform: "sms", inactive: true, frequency: "60d", days: "mon-fri", hours: "9-18" }],
  ["settings", { sender_name: "Acme", tz: "Europe/Berlin" }],
  ["settings", { output: "yaml" }],
  ["apply", { file: { settings: { reply_to: "a@example.com" } } }],
  ["apply", { file: { settings: { reply_to: "b@example.com" } }, dry_run: true }],
  ["brand.set", { name: "Acme", color: "#0a7" }],
  ["brand.show", {}],
  ["texts.set", { subject: "How was it?", locale: "de" }],
  ["texts.show", {}],
  ["link.add", { name: "Shop", property: ["store=lyon"] }],
  ["link.list", {}],
  ["link.remove", { id: "{link.add}", confirm: true }],
  ["share.add", { name: "Board", segment: "plan,region", expires: "90d" }],
  ["share.list", {}],
  ["share.remove", { id: "Board", confirm: true }],
  ["trend.add", { name: "Pro", where: { plan: "pro" } }],
  ["trend.list", {}],
  ["trend.remove", { id: "{trend.add}", confirm: true }],
  ["question.add", { text: "How easy was it?", type: "scale", scale: "1-5", to: "0-6" }],
  ["question.add", { text: "Why?", type: "free_response", id: "why" }],
  ["question.list", {}],
  ["question.show", { id: "q1" }],
  ["question.move", { id: "why", to: "1" }],
  ["question.text", { id: "why", locale: "de", text: "Warum?" }],
  ["question.retire", { id: "why", confirm: true }],
  ["digest.add", { target: "boss@example.com", every: "monday", at: "08:00" }],
  ["digest.list", {}],
  ["digest.preview", {}],
  ["digest.test", { id: "boss@example.com" }],
  ["digest.remove", { id: "boss@example.com" }],
  [
    "webhook.add",
    {
      url: "{receiver}/hook",
      allow_private: true,
      events: "survey_response.created,unsubscribe.created",
      score: "0-6",
    },
  ],
  ["webhook.list", {}],
  ["webhook.test", { id: "{webhook.add}" }],
  ["webhook.rotate", { id: "{webhook.add}", overlap: "0" }],
  ["webhook.enable", { id: "{webhook.add}" }],
  ["webhook.redeliver", { id: "{webhook.add}", since: "7d" }],
  ["webhook.deliveries", { id: "{webhook.add}", failed: true }],
  ["webhook.remove", { id: "{webhook.add}", confirm: true }],
  ["delivery.list", { since: "7d", by: "day" }],
  ["delivery.list", { state: "unknown", limit: "1" }],
  ["delivery.show", { email: "ada@example.com" }],
  ["delivery.resolve", { id: "{unknown}", outcome: "sent" }],
  ["delivery.test", { to: "you@example.com" }],
  ["survey.preview", { locale: "fr" }],
  ["bounce.list", {}],
  ["bounce.clear", { email: "gone@example.com" }],
  ["pause", {}],
  ["resume", {}],
  ["retention", {}],
  ["retention", { responses: "5y", anonymize: true, confirm: true }],
  ["erase", { email: "ada@example.com", confirm: true }],
  ["log", { operation: "key.*" }],
];

interface Answer {
  readonly status: number;
  readonly json: Json;
  readonly headers: Readonly<Record<string, string>>;
}

async function request(service: EmbeddedService, key: string, path: string, body?: object): Promise<Answer> {
  const response = await service.service.handle({
    method: body === undefined ? "GET" : "POST",
    url: `${service.baseUrl}${path}`,
    headers: { authorization: `Basic ${btoa(`${key}:`)}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: JSON.parse(response.body as string) as Json, headers: response.headers };
}

const post = (service: EmbeddedService, key: string, name: string, input: object): Promise<Answer> =>
  request(service, key, `/v1/operations/${name}`, input);

interface Opened {
  readonly service: EmbeddedService;
  readonly admin: Admin;
  readonly key: string;
  readonly ids: Map<string, string>;
}

let receiver: HookReceiver;
beforeAll(async () => {
  receiver = await startHookReceiver({ "/hook": answering(200) });
});
afterAll(() => receiver.close());

async function open(): Promise<Opened> {
  const service = await openEmbeddedService({ clock });
  const { admin, store } = service.service;
  const { key } = await admin({ kind: "key.add", name: "laptop", admin: true });
  const person = await request(service, service.apiKey, "/v1/people.json", { email: "ada@example.com", send: false });
  const given = { person: (person.json as JsonObject)["id"], score: 9 };
  const answer = await request(service, service.apiKey, "/v1/survey_responses.json", given);
  const project = { id: 1, name: "default" };
  const unknown = await store.write(
    async (tx) => {
      const gone = { name: null, phoneNumber: null, createdAt: 1, lastSentAt: null };
      const { id } = await tx.people.insert(project.id, { ...gone, email: "gone@example.com" });
      await tx.people.update(project.id, id, { bouncedAt: 5 });
      const wish = { channel: "email", autopilot: false, paused: false, properties: {} } as const;
      const tokens = { token: tx.token(), unsubscribeToken: tx.token() };
      const times = { createdAt: 1, scheduledAt: 1 };
      const personId = Number((person.json as JsonObject)["id"]);
      const requestId = await tx.requests.insert(project.id, { ...wish, ...times, ...tokens, personId });
      const end = { state: "unknown", dueAt: null, sentAt: null, reason: null, isAttempt: true } as const;
      await settleClaim(tx, { project, requestId, claimer: null, claims: 0 }, end);
      return requestId;
    },
    { project: project.id },
  );
  const ids = new Map([
    ["response", (answer.json as JsonObject)["id"] as string],
    ["unknown", String(unknown)],
    ["receiver", receiver.url],
  ]);
  return { service, admin, key, ids };
}

function fill(input: JsonObject, ids: ReadonlyMap<string, string>): JsonObject {
  return JSON.parse(
    JSON.stringify(input).replaceAll(/\{([\w.]+)\}/g, (_, name: string) => ids.get(name)!),
  ) as JsonObject;
}

function keepId(ids: Map<string, string>, name: string, result: unknown): void {
  if (typeof result === "object" && result !== null && "id" in result) ids.set(name, String(result.id));
}

function masked(value: unknown): unknown {
  const text = JSON.stringify(value, (name, each: unknown) =>
    [
      "key",
      "secret",
      "url",
      "csv_url",
      "json_url",
      "base_url",
      "previous_last_four",
      "message",
      "message_id",
      "last_four",
      "last_used_on",
      "event_id",
      "ms",
      "by",
      "html",
      "text",
      "mail",
    ].includes(name)
      ? "…"
      : each,
  );
  return text === undefined ? undefined : JSON.parse(text);
}

const LINES = { kind: "log", limit: 500 } as const;

test(
  "each operation has the same result and leaves the same line over HTTP and on the data at hand",
  async () => {
    const [here, there] = [await open(), await open()];
    onTestFinished(() => here.service.close());
    onTestFinished(() => there.service.close());
    for (const [name, input] of CALLS) {
      const local: unknown = await here.admin({ kind: name, project: "default", ...fill(input, here.ids) } as never);
      const { status, json } = await post(there.service, there.key, name, fill(input, there.ids));
      keepId(here.ids, name, local);
      keepId(there.ids, name, json);
      const rows = typeof local === "object" && local !== null && "rows" in local ? local.rows : local;
      expect([name, status, masked(json)]).toEqual([name, 200, masked(rows)]);
    }
    const { rows } = await here.admin(LINES);
    const others = (await there.admin(LINES)).rows;
    const plain = (lines: typeof rows) => lines.map(({ by: _by, ...line }) => line);
    expect(plain(others)).toEqual(plain(rows));
    expect([...new Set(rows.map(({ by }) => by))]).toEqual(["command line (test)"]);
    expect([...new Set(others.map(({ by }) => by))]).toContain("key 2 (laptop)");
    // The log must not contain personal data or secrets.
    expect(JSON.stringify(others)).not.toMatch(/@|lyon|Board|Acme|hooks\.example/);
  },
  PATIENCE_MS,
);

describe("the list of operations", () => {
  let opened: Awaited<ReturnType<typeof open>>;
  let listed: JsonObject[];
  beforeAll(async () => {
    opened = await open();
    listed = (await request(opened.service, opened.key, "/v1/operations")).json as JsonObject[];
  });
  afterAll(() => opened.service.close());

  it(
    "has each operation with schemas that its input and output fit",
    async () => {
      const names = new Set(listed.map(({ name }) => name as string));
      expect(new Set(CALLS.map(([name]) => name))).toEqual(names);
      const ajv = new Ajv2020({ strict: false });
      for (const [name, given] of CALLS) {
        const { input, output } = listed.find((each) => each["name"] === name) as Record<string, object>;
        const body = fill(given, opened.ids);
        expect([name, ajv.validate(input!, body), ajv.errorsText()]).toEqual([name, true, "No errors"]);
        const { json } = await post(opened.service, opened.key, name, body);
        keepId(opened.ids, name, json);
        expect([name, ajv.validate(output!, json), ajv.errorsText()]).toEqual([name, true, "No errors"]);
      }
    },
    PATIENCE_MS,
  );

  it("tells a removal that is not confirmed what it would remove, and does nothing", async () => {
    const { service, key } = opened;
    const added = await post(service, key, "trend.add", { name: "Free", where: "plan=free" });
    const { id } = added.json as { id: string };
    const refused = await post(service, key, "trend.remove", { id });
    const question = 'Remove trend "Free"? Its responses stay.';
    expect([refused.status, (refused.json as JsonObject)["confirm"]]).toEqual([409, { question, id, name: "Free" }]);
    expect((await post(service, key, "trend.remove", { id, confirm: "true" })).status).toBe(422);
    expect((await post(service, key, "trend.remove", { id, confirm: true })).json).toEqual({ id });
    expect((await post(service, key, "trend.remove", { id, confirm: true })).json).toEqual({
      status: 404,
      message: `project default has no trend ${id}`,
    });
  });

  it.each(["here", "there"])("removes no more than was confirmed %s", async (where) => {
    const { service, admin, key } = opened;
    const call = async (name: string, input: object): Promise<[number, unknown]> => {
      if (where === "there") return Object.values(await post(service, key, name, input)) as [number, unknown];
      return admin({ kind: name, ...input } as never).then(
        (result: unknown) => [200, result],
        (error: unknown) => [409, { confirm: (error as UnconfirmedError).confirm }],
      );
    };
    const file = { trends: [] };
    await call("trend.add", { name: "Gold", where: "plan=gold" });
    const [status, asked] = await call("apply", { file });
    const gold = { question: 'Remove trends["Gold"] from project default?', removed: ['trends["Gold"]'] };
    expect([status, (asked as JsonObject)["confirm"]]).toEqual([409, gold]);
    await call("trend.add", { name: "Iron", where: "plan=iron" });
    const [again, more] = await call("apply", { file, confirm: gold });
    const both = ['trends["Gold"]', 'trends["Iron"]'];
    const wanted = { question: `Remove ${both.join(", ")} from project default?`, removed: both };
    expect([again, (more as JsonObject)["confirm"]]).toEqual([409, wanted]);
    expect(await admin({ kind: "trend.list" })).toHaveLength(2);
    expect((await call("apply", { file, confirm: wanted }))[0]).toBe(200);
    expect(await admin({ kind: "trend.list" })).toEqual([]);
  });

  it("refuses bad values with the field, unknown names, conflicts, and fields that only the data has", async () => {
    const { service, key } = opened;
    const lifetime = 'must be from 1 second to 100 years (got "0d")';
    expect((await post(service, key, "key.add", { expires: "0d" })).json).toEqual({
      status: 422,
      message: `expires: ${lifetime}`,
      errors: { expires: [lifetime] },
    });
    expect((await post(service, key, "key.add", { name: "laptop" })).status).toBe(409);
    expect((await post(service, key, "nothing", {})).status).toBe(404);
    expect((await post(service, key, "project.list", {})).status).toBe(404);
    expect((await post(service, key, "retention", { log: "30d" })).status).toBe(422);
    expect((await post(service, key, "pause", { project: "other" })).status).toBe(403);
  });
});

it.each<[file: JsonObject, field: string, phrase: string]>([
  [{ nothing: {} }, "nothing", "is not a field here"],
  [{ settings: 5 }, "settings", "5 is not a map"],
  [{ settings: { sender_name: 5 } }, "settings.sender_name", "5 is not a string"],
  [{ throttle: "90d" }, "throttle", '"90d" is not a number'],
  [{ trends: {} }, "trends", "a map is not a list"],
  [{ trends: [null] }, "trends.0", "null is not a map"],
  [{ trends: [{ name: "Pro", where: { constructor: 5 } }] }, "trends.0.where", "a map is not a map of texts"],
  [{ trends: [{ name: "Pro" }] }, "trends.0.where", "must be given"],
  [{ webhooks: [{ url: "https://x.example", allow_private: 1 }] }, "webhooks.0.allow_private", "1 is not a boolean"],
  [
    { digests: [{ target: "a@x.co", every: "often" }] },
    "digests.0.every",
    expect.stringContaining('"often" is not one of'),
  ],
])("apply refuses %j, and leaves no line", async (file, field, phrase) => {
  const { service, admin, key } = await open();
  onTestFinished(() => service.close());
  const { status, json } = await post(service, key, "apply", { file, confirm: true });
  expect([status, (json as JsonObject)["errors"]]).toEqual([422, { [field]: [phrase] }]);
  expect((await admin({ kind: "log", operation: "apply" })).rows).toEqual([]);
});

/** Deep enough to overflow the stack of a recursive parser. */
const DEEP = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;

it.each<[name: string, field: string, phrase: string, body: string]>([
  ["trend.add", "where", "a list is not key=value", `{"name":"Pro","where":${DEEP}}`],
  ["trend.add", "name", "a list is not a string", `{"name":${DEEP},"where":"plan=pro"}`],
  ["apply", "file", "a list is not an object of settings", `{"file":${DEEP}}`],
  ["webhook.add", "secret", "must be text", '{"url":"https://x.example","secret":123456}'],
  ["throttle", "interval", "a list is not a duration with a unit, such as 90d or 12h, or off", `{"interval":${DEEP}}`],
  ["key.add", "expires", "must be from 1 second to 100 years (got 0)", '{"expires":0}'],
  ["key.revoke", "confirm", "a list must be true, or the confirm of the refusal", '{"id":"1","confirm":[true]}'],
  ["key.revoke", "confirm", '"true" must be true, or the confirm of the refusal', '{"id":"1","confirm":"true"}'],
  ["key.revoke", "confirm", "null must be true, or the confirm of the refusal", '{"id":"1","confirm":null}'],
  [
    "apply",
    "only",
    expect.stringMatching(/^"settings,no" is not one of settings, /),
    '{"file":{},"only":["settings","no"]}',
  ],
  [
    "link.add",
    "property",
    "is too large (maximum is 65536 bytes)",
    `{"name":"Shop","property":{"store":"${"x".repeat(65_536)}"}}`,
  ],
  ["retention", "requests", expect.stringMatching(/^"0d" is not an age of a day or more/), '{"requests":"0d"}'],
  ["retention", "webhooks", '"31d" is not an age of 1d to 30d, such as 7d, or off', '{"webhooks":"31d"}'],
  ["retention", "log", expect.stringMatching(/^"29d" is not an age of 30d or more/), '{"log":"29d"}'],
  ["erase", "email", "can't be blank", "{}"],
  ["erase", "email", "can't be blank", '{"email":" ","confirm":true}'],
  ["erase", "phone_number", "cannot be used together with email", '{"email":"a@b.co","phone_number":"+15550001111"}'],
  ["delivery.show", "email", "can't be blank", "{}"],
  ["delivery.show", "phone_number", "cannot be used together with email", '{"email":"","phone_number":""}'],
  ["delivery.list", "phone_number", "cannot be used together with email", '{"email":"","phone_number":""}'],
])("%s refuses %s: %s", async (name, field, phrase, body) => {
  const { service, key } = await open();
  onTestFinished(() => service.close());
  const { status, body: text } = await service.service.handle({
    method: "POST",
    url: `${service.baseUrl}/v1/operations/${name}`,
    headers: { authorization: `Basic ${btoa(`${key}:`)}` },
    body,
  });
  const message = expect.stringMatching(new RegExp(`^${field}:? `, "u")) as string;
  expect([status, JSON.parse(text as string)]).toEqual([422, { status: 422, message, errors: { [field]: [phrase] } }]);
});

it("settings take their numbers as they show them, or as they are typed", async () => {
  const { service, key } = await open();
  onTestFinished(() => service.close());
  const shown = await post(service, key, "settings", { daily_limit: "100", soft_bounces: "3" });
  const { daily_limit, soft_bounces } = shown.json as JsonObject;
  expect(await post(service, key, "settings", { daily_limit, soft_bounces })).toMatchObject({
    status: 200,
    json: shown.json,
  });
  expect((await post(service, key, "settings", { daily_limit: 1.5 })).json).toMatchObject({
    errors: { daily_limit: ["must be a whole number from 1"] },
  });
  expect((await post(service, key, "settings", { soft_bounces: true })).json).toMatchObject({
    errors: { soft_bounces: ["true is not a whole number"] },
  });
});

describe("a key that does not administer the project", () => {
  let opened: Awaited<ReturnType<typeof open>>;
  const keys = new Map<string, [key: string, status: number]>();
  beforeAll(async () => {
    opened = await open();
    const { admin, service } = opened;
    await admin({ kind: "project.add", name: "acme" });
    const expired = await admin({ kind: "key.add", admin: true, expires: 1 });
    const revoked = await admin({ kind: "key.add", admin: true });
    await admin({ kind: "key.revoke", id: revoked.id, confirm: true });
    await service.service.store.write((tx) => tx.projects.setKeyExpiry(1, Number(expired.id), NOW / 1000 - 1), {
      project: 1,
    });
    keys.set("read-only", [(await admin({ kind: "key.add", read_only: true })).key, 403]);
    keys.set("full", [service.apiKey, 403]);
    keys.set("foreign", [(await admin({ kind: "key.add", project: "acme", admin: true })).key, 403]);
    keys.set("expired", [expired.key, 401]);
    keys.set("revoked", [revoked.key, 401]);
  });
  afterAll(() => opened.service.close());

  it.each(["read-only", "full", "foreign", "expired", "revoked"])(
    "is refused if it is %s, and changes nothing",
    async (kind) => {
      const { service, admin } = opened;
      const [key, status] = keys.get(kind)!;
      const before = [await admin(LINES), await admin({ kind: "settings", output: "yaml" })];
      for (const [name, input] of CALLS) {
        const answer = await post(service, key, name, { ...input, project: "default" });
        // An address with too many wrong keys gets a 429.
        expect([name, answer.status === 429 ? 401 : answer.status]).toEqual([name, status]);
      }
      expect([await admin(LINES), await admin({ kind: "settings", output: "yaml" })]).toEqual(before);
    },
  );
});

test("two administrators who change the same setting at once leave two lines, and the last one wins", async () => {
  const { service, admin, key } = await open();
  onTestFinished(() => service.close());
  const intervals = [60, 90, 120].map((days) => days * 86_400);
  await Promise.all(intervals.map((interval) => post(service, key, "throttle", { interval })));
  const { rows } = await admin({ kind: "log", operation: "throttle" });
  const seen = rows.map(({ result }) => (result as { throttle: number }).throttle);
  expect(seen.toSorted((one, other) => one - other)).toEqual(intervals);
  expect(await admin({ kind: "throttle" })).toEqual({ throttle: seen[0] });
});

test("API calls that overwrite people and responses leave lines, and those that change nothing leave none", async () => {
  const { service, admin, ids } = await open();
  const response = ids.get("response");
  onTestFinished(() => service.close());
  const call = (path: string, body: object, method = "POST") =>
    service.service.handle({
      method,
      url: service.baseUrl + path,
      headers: { authorization: `Basic ${btoa(`${service.apiKey}:`)}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const before = (await admin(LINES)).rows.length;
  const ada = { email: "ada@example.com", send: false };
  await call("/v1/people.json", { ...ada, name: "Ada" });
  await call("/v1/people.json", { ...ada, name: "Ada" });
  await call(`/v1/survey_responses/${response}.json`, { comment: "Good", tags: ["x"] }, "PUT");
  await call(`/v1/survey_responses/${response}.json`, { tags: ["y"] }, "PUT");
  await call("/v1/unsubscribes.json", { person_email: "ada@example.com" });
  await call("/v1/unsubscribes.json", { person_email: "ada@example.com" });
  await call(`/v1/survey_responses/${response}.json`, {}, "DELETE");
  await call("/v1/people/email%3Aada%40example.com.json", {}, "DELETE");
  const { rows } = await admin(LINES);
  expect(
    rows
      .slice(0, rows.length - before)
      .map(({ operation, what, by }) => `${by}: ${operation} ${what.replace(/^\d+/, "#")}`),
  ).toEqual([
    "key 1: people.delete #",
    "key 1: responses.delete #",
    "key 1: people.unsubscribe #",
    "key 1: responses.update # comment",
    "key 1: people.update # name",
  ]);
});
