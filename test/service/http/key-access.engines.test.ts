import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { READ_ONLY_PREFIX } from "../../../src/contract/key-access.ts";
import { ROUTES, routePath, type Route } from "../../../src/contract/routes.ts";
import { addKey, revokeKey } from "../../../src/service/domain/projects/projects.ts";
import { DAY } from "../domain/fixture.ts";
import { type HttpFixture, listenTo, openHttp, parseRaw, rawRequest, sendRaw } from "./fixture.ts";

const READ_ONLY = `${READ_ONLY_PREFIX}key-of-the-test`;
const FULL = { name: null, access: "full", expiresAt: null } as const;
const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] as const;

const state: { http?: HttpFixture } = {};
const http = (): HttpFixture => state.http as HttpFixture;

const basic = (key: string): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}`,
});

const personId = async (): Promise<string> =>
  String((await http().post("/v1/people.json", { email: "ada@x.co", send: false })).id);

beforeAll(async () => {
  state.http = await openHttp();
  const { project, time, store } = http();
  await store.write((tx) => addKey(tx, project, READ_ONLY, { ...FULL, access: "read-only" }), { project: "all" });
  await store.write((tx) => addKey(tx, project, "key-that-has-ended", { ...FULL, expiresAt: time.now - 1 }), {
    project: "all",
  });
  const revoked = await store.write((tx) => addKey(tx, project, "key-that-was-revoked"), { project: "all" });
  await store.write((tx) => revokeKey(tx, project, String(revoked.id)), { project: "all" });
  const person = await personId();
  await http().post("/v1/survey_responses.json", { person, score: 9, comment: "Good" });
});
afterAll(() => http().store.close());

async function contents(isReading: boolean): Promise<unknown> {
  const lists = ["people", "survey_responses", "bounces", "unsubscribes", "metrics", "autopilot/email/memberships"];
  const shown = await Promise.all(lists.map((list) => http().get(`/v1/${list}.json`)));
  // Reading the first signed link stores the signing secret, so reads can change the version.
  return [shown, isReading ? null : await http().read((tx) => tx.tables.version(http().project.id))];
}

/** Valid bodies: a key with full access would get a 2xx. */
const BODIES: Readonly<Record<string, object>> = {
  sendPerson: { email: "grace@x.co" },
  addMember: { person_email: "grace@x.co" },
  removeMember: { person_email: "ada@x.co" },
  unsubscribe: { person_email: "ada@x.co" },
  updateResponse: { comment: "Bad" },
  updateResponseByBody: { id: "3", comment: "Bad" },
};

const PLACEHOLDERS = { platform: "email", person: "email:ada@x.co", email: "ada@x.co", id: "3" };

/** Taken from the router's table, so new paths are included. */
const PATHS = [
  ...new Set(Object.values(ROUTES as Record<string, Route>).map((route) => routePath(route, PLACEHOLDERS))),
];

describe.each(PATHS)("%s", (path) => {
  it.each(METHODS)(
    "when a key that only reads uses %s, then it reads, or is refused and nothing changes",
    async (method) => {
      const isReading = method === "GET" || method === "HEAD";
      const before = await contents(isReading);
      const route = Object.values(ROUTES as Record<string, Route>).find(
        (one) => one.method === method && routePath(one, PLACEHOLDERS) === path,
      );
      const body = route === undefined ? undefined : BODIES[route.name];
      const answer = await http().call(method, path, { headers: basic(READ_ONLY), body });
      const refusal = { status: 403, message: "Forbidden: this key only reads" };
      expect(isReading ? [200, 404, 405].includes(answer.status) : answer.json).toEqual(isReading ? true : refusal);
      expect(await contents(isReading)).toEqual(before);
    },
  );

  it.each(["key-that-has-ended", "key-that-was-revoked", "key-that-never-was"])(
    "when the key is %s, then each of its methods is 401",
    async (key) => {
      // Too many wrong keys from one address would be rate limited.
      http().time.now += 61;
      const routes = Object.values(ROUTES as Record<string, Route>).filter(
        (one) => routePath(one, PLACEHOLDERS) === path,
      );
      const answers = await Promise.all(
        routes.map(({ method, name }) => http().call(method, path, { headers: basic(key), body: BODIES[name] })),
      );
      expect(answers.map(({ json }) => json)).toEqual(routes.map(() => ({ status: 401, message: "Unauthorized" })));
    },
  );
});

it.each(Object.values(ROUTES as Record<string, Route>))(
  "when a key with full access uses $method $path, then nothing is forbidden",
  async (route) => {
    const { method, name } = route;
    const answer = await http().call(method, routePath(route, PLACEHOLDERS), { body: BODIES[name] });
    expect([401, 403, 405].includes(answer.status), `${name}: ${answer.status}`).toBe(false);
  },
);

async function accessOf(headers: Record<string, string>): Promise<string | undefined> {
  return (await http().call("GET", "/v1/metrics.json", { headers })).headers["x-key-access"];
}

test("when a key of any access is answered, then a header says which it is", async () => {
  expect([await accessOf({}), await accessOf(basic(READ_ONLY))]).toEqual(["full", "read-only"]);
});

test("when a key that only reads writes and accepts no JSON, then it is the write that is refused", async () => {
  const headers = { ...basic(READ_ONLY), accept: "text/html" };
  const answers = [
    await http().call("POST", "/v1/people", { headers, body: BODIES.sendPerson }),
    await http().call("GET", "/v1/people", { headers }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 406]);
});

test("when a key that only reads announces a body, then the answer comes before the body does", async () => {
  const listening = await listenTo(http());
  try {
    const { authorization } = basic(READ_ONLY);
    const head = rawRequest(listening.url, "POST /v1/people.json", [
      `Authorization: ${authorization}`,
      "Expect: 100-continue",
      "Content-Type: application/json",
      "Content-Length: 1000000",
    ]);
    const answered = await sendRaw(listening.url, head);
    expect(parseRaw(answered).json).toEqual({ status: 403, message: "Forbidden: this key only reads" });
  } finally {
    await listening.close();
  }
});

test("when a key is used many times, then its last day is written once a day", async () => {
  const { project, time } = http();
  const days = async (): Promise<unknown> =>
    (await http().read((tx) => tx.projects.listKeys(project.id))).map(({ lastFour, lastUsedOn }) => [
      lastFour,
      lastUsedOn,
    ]);
  for (let count = 0; count < 5; count += 1) await http().call("GET", "/v1/people.json", { headers: basic(READ_ONLY) });
  await expect.poll(days).toEqual([
    ["ests", "2025-06-15"],
    ["test", "2025-06-15"],
    ["nded", null],
  ]);
  time.now += DAY;
  await http().call("GET", "/v1/people.json", { headers: basic(READ_ONLY) });
  await expect.poll(days).toEqual([
    ["ests", "2025-06-15"],
    ["test", "2025-06-16"],
    ["nded", null],
  ]);
});
