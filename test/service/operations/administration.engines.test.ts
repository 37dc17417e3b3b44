/** Every operation, over HTTP and on the data at hand: the same result and the same line; and who may not call it. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from "vitest";
import type { Json, JsonObject } from "../../../src/contract/json.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import type { Admin } from "../../../src/service/operations/index.ts";
import { type EmbeddedService, openEmbeddedService } from "../../helpers/embedded-service.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");
const clock = { ...systemClock, now: () => NOW };

/** In this order, as later ones act on what earlier ones have made. */
const CALLS: readonly (readonly [name: string, input: JsonObject])[] = [
  ["key.add", { name: "ci", expires: "90d" }],
  ["key.list", {}],
  ["key.rotate", { id: "ci", revoke_after: "24h" }],
  ["key.revoke", { id: "5", confirm: true }],
  ["throttle", { interval: "90d" }],
  ["throttle", {}],
  ["reminder", { after: "5d" }],
  ["autopilot", { platform: "sms", inactive: true, frequency: "60d", days: "mon-fri", hours: "9-18" }],
  ["settings", { sender_name: "Acme", tz: "Europe/Berlin" }],
  ["settings", { output: "yaml" }],
  ["apply", { file: { settings: { reply_to: "a@example.com" } } }],
  ["brand.set", { name: "Acme", color: "#0a7" }],
  ["brand.show", {}],
  ["texts.set", { subject: "How was it?", locale: "de" }],
  ["texts.show", {}],
  ["link.add", { name: "Shop", property: ["store=lyon"] }],
  ["link.list", {}],
  ["share.add", { name: "Board", segment: "plan,region", expires: "90d" }],
  ["share.list", {}],
  ["share.remove", { id: "Board", confirm: true }],
  ["trend.add", { name: "Pro", where: { plan: "pro" } }],
  ["trend.list", {}],
  ["question.add", { text: "How easy was it?", type: "scale", scale: "1-5", to: "0-6" }],
  ["question.add", { text: "Why?", type: "free_response", id: "why" }],
  ["question.list", {}],
  ["question.show", { id: "q1" }],
  ["question.move", { id: "why", to: 1 }],
  ["question.text", { id: "why", locale: "de", text: "Warum?" }],
  ["question.retire", { id: "why", confirm: true }],
  ["digest.add", { email: "boss@example.com", every: "monday", at: "08:00" }],
  ["digest.list", {}],
  ["digest.preview", {}],
  ["digest.test", { id: "boss@example.com" }],
  ["digest.remove", { id: "boss@example.com" }],
  ["webhook.add", { url: "https://hooks.example.com/x", events: "survey_response.created", score: "0-6" }],
  ["webhook.list", {}],
  ["delivery.list", { since: "7d", by: "day" }],
  ["delivery.show", { email: "ada@example.com" }],
  ["delivery.test", { to: "you@example.com" }],
  ["survey.preview", { locale: "fr" }],
  ["survey.link", { id: "{response}" }],
  ["bounce.list", {}],
  ["pause", {}],
  ["resume", {}],
  ["retention", {}],
  ["retention", { responses: "5y", anonymize: true, confirm: true }],
  ["erase", { email: "ada@example.com", confirm: true }],
  ["log", { operation: "key.*" }],
];
/** They need a receiver or a bounced person, which other tests have. */
const ELSEWHERE = new Set([
  "link.remove",
  "trend.remove",
  "webhook.remove",
  "webhook.enable",
  "webhook.rotate",
  "webhook.test",
  "webhook.deliveries",
  "webhook.redeliver",
  "bounce.clear",
  "delivery.resolve",
]);

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

async function open(): Promise<{ service: EmbeddedService; admin: Admin; key: string; response: string }> {
  const service = await openEmbeddedService({ clock });
  const { admin } = service.service;
  const { key } = await admin({ kind: "key.add", name: "laptop", admin: true });
  const person = await request(service, service.apiKey, "/v1/people.json", { email: "ada@example.com", send: false });
  const given = { person: (person.json as JsonObject)["id"], score: 9 };
  const answer = await request(service, service.apiKey, "/v1/survey_responses.json", given);
  return { service, admin, key, response: (answer.json as JsonObject)["id"] as string };
}

/** Without what chance makes of keys, secrets, tokens and boundaries. */
function masked(value: unknown): unknown {
  const text = JSON.stringify(value, (name, each: unknown) =>
    [
      "key",
      "secret",
      "url",
      "message",
      "message_id",
      "last_four",
      "last_used_on",
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

const LINES = { kind: "log", limit: 1000 } as const;

test("each operation has the same result and leaves the same line over HTTP and on the data at hand", async () => {
  const [here, there] = [await open(), await open()];
  onTestFinished(() => here.service.close());
  onTestFinished(() => there.service.close());
  for (const [name, given] of CALLS) {
    const input = JSON.parse(JSON.stringify(given).replace("{response}", here.response)) as JsonObject;
    const local: unknown = await here.admin({ kind: name, project: "default", ...input } as never);
    const { status, json } = await post(there.service, there.key, name, input);
    const rows = typeof local === "object" && local !== null && "rows" in local ? local.rows : local;
    expect([name, status, masked(json)]).toEqual([name, 200, masked(rows)]);
  }
  const { rows } = await here.admin(LINES);
  const others = (await there.admin(LINES)).rows;
  const plain = (lines: typeof rows) => lines.map(({ by: _by, ...line }) => line);
  expect(plain(others)).toEqual(plain(rows));
  expect([...new Set(rows.map(({ by }) => by))]).toEqual(["command line (test)"]);
  expect([...new Set(others.map(({ by }) => by))]).toContain("key 2 (laptop)");
  // Nothing that an erasure would have to remove, and no secret.
  expect(JSON.stringify(others)).not.toMatch(/@|lyon|Board|Acme|hooks\.example/);
});

describe("the list of operations", () => {
  let opened: Awaited<ReturnType<typeof open>>;
  let listed: JsonObject[];
  beforeAll(async () => {
    opened = await open();
    listed = (await request(opened.service, opened.key, "/v1/operations")).json as JsonObject[];
  });
  afterAll(() => opened.service.close());

  it("has each operation with schemas that its input and output fit", async () => {
    const names = new Set(listed.map(({ name }) => name as string));
    expect(new Set([...CALLS.map(([name]) => name), ...ELSEWHERE])).toEqual(names);
    const ajv = new Ajv2020({ strict: false });
    for (const [name, given] of CALLS) {
      const { input, output } = listed.find((each) => each["name"] === name) as Record<string, object>;
      const body = JSON.parse(JSON.stringify(given).replace("{response}", opened.response)) as JsonObject;
      expect([name, ajv.validate(input!, body), ajv.errorsText()]).toEqual([name, true, "No errors"]);
      const { json } = await post(opened.service, opened.key, name, body);
      expect([name, ajv.validate(output!, json), ajv.errorsText()]).toEqual([name, true, "No errors"]);
    }
  });

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
        // Too many wrong keys from one address are refused as such.
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
  const { service, admin, response } = await open();
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
