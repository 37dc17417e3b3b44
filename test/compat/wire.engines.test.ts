/** Requests of the other published client libraries, byte for byte. */
import { request as send } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServe, type Served } from "../helpers/serve.ts";

interface Wire {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

let service: Served;

beforeAll(async () => {
  service = await startServe();
});

afterAll(async () => {
  await service.stop();
});

function exchange({
  method,
  path,
  headers,
  body,
}: Wire): Promise<{ status: number; json: unknown; link: string | undefined }> {
  return new Promise((resolve, reject) => {
    // Node doesn't set Content-Length for DELETE.
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const outgoing = send(service.baseUrl, { method, path, headers: { ...headers, ...length } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, json: JSON.parse(text), link: response.headers.link?.toString() }),
      );
    });
    outgoing.on("error", reject).end(body);
  });
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const json = (value: unknown): string => JSON.stringify(value);

const CLIENTS = {
  python: (): Record<string, string> => ({
    authorization: `Basic ${base64(service.apiKey)}`,
    accept: "application/json",
    "user-agent": "Delighted Python v4.2.0",
  }),
  ruby: (): Record<string, string> => ({
    authorization: `Basic ${base64(`${service.apiKey}:`)}`,
    accept: "application/json",
    "user-agent": "Delighted RubyGem v2.1.0",
  }),
  php: (): Record<string, string> => ({
    authorization: `Basic ${base64(`${service.apiKey}:`)}`,
    accept: "application/json",
    "user-agent": "Delighted PHP API Client v4.2.0",
  }),
  curl: (): Record<string, string> => ({
    authorization: `Basic ${base64(`${service.apiKey}:-`)}`,
    accept: "*/*",
    "user-agent": "curl/8.0",
  }),
} as const;
const form = { "content-type": "application/x-www-form-urlencoded" };
const typed = { "content-type": "application/json" };

describe("python", () => {
  it("when a GET carries an empty object, then it is a plain GET", async () => {
    expect(await exchange({ method: "GET", path: "/v1/people", headers: CLIENTS.python(), body: "{}" })).toMatchObject({
      status: 200,
      json: [],
    });
  });

  it("when a list has a word in its query that is none of ours, then it is ignored", async () => {
    expect(
      await exchange({ method: "GET", path: "/v1/people?auto_handle_rate_limits=True", headers: CLIENTS.python() }),
    ).toMatchObject({
      status: 200,
    });
  });

  it("when a person is created, changed and deleted with JSON, then all is understood", async () => {
    const created = await exchange({
      method: "POST",
      path: "/v1/people",
      headers: { ...CLIENTS.python(), ...typed },
      body: json({ email: "py@example.com", send: false }),
    });
    expect(created).toMatchObject({ status: 201, json: { email: "py@example.com", survey_scheduled_at: null } });
    expect(
      await exchange({
        method: "DELETE",
        path: "/v1/people/email%3Apy%40example.com",
        headers: { ...CLIENTS.python(), ...typed },
        body: "{}",
      }),
    ).toEqual({
      status: 202,
      json: { ok: true },
      link: undefined,
    });
  });

  it("when maps and arrays come bracketed in a query, then they are read", async () => {
    expect(
      await exchange({
        method: "GET",
        path: "/v1/survey_responses?expand[]=notes&per_page=2",
        headers: CLIENTS.python(),
      }),
    ).toMatchObject({ status: 200, json: [] });
  });
});

describe("ruby", () => {
  it("when expand is percent-encoded and twice, then both count", async () => {
    const { json: person } = await exchange({
      method: "POST",
      path: "/v1/people",
      headers: { ...CLIENTS.ruby(), ...typed },
      body: json({ email: "ruby@example.com", send: false }),
    });
    const { id } = person as { id: string };
    await exchange({
      method: "POST",
      path: "/v1/survey_responses",
      headers: { ...CLIENTS.ruby(), ...typed },
      body: json({ person: Number(id), score: 9 }),
    });
    const listed = await exchange({
      method: "GET",
      path: "/v1/survey_responses?expand%5B%5D=person&expand%5B%5D=notes",
      headers: CLIENTS.ruby(),
    });
    expect(listed).toMatchObject({
      status: 200,
      json: [{ person: { id, email: "ruby@example.com" }, notes: [], score: 9 }],
    });
  });

  it("when a whole response is put back with what is read-only, then only what may change does", async () => {
    const { json: listed } = await exchange({
      method: "GET",
      path: "/v1/survey_responses?expand[]=person",
      headers: CLIENTS.ruby(),
    });
    const [response] = listed as Record<string, unknown>[];
    const body = json({
      ...response,
      score: 4,
      permalink: "http://elsewhere",
      created_at: 1,
      expand: ["person"],
    });
    const changed = await exchange({
      method: "PUT",
      path: `/v1/survey_responses/${String(response?.["id"])}`,
      headers: { ...CLIENTS.ruby(), ...typed },
      body,
    });
    expect(changed).toMatchObject({
      status: 200,
      json: { ...response, score: 4, updated_at: expect.any(Number) as unknown },
    });
  });

  it("when a DELETE has the JSON type and no body, then it is no broken JSON", async () => {
    expect(
      await exchange({
        method: "DELETE",
        path: "/v1/people/email%3Anobody%40example.com",
        headers: { ...CLIENTS.ruby(), ...typed },
      }),
    ).toMatchObject({ status: 404 });
  });

  it("when a list has a next page, then its link is absolute, on the address that was used, and carries filters and size", async () => {
    for (const name of ["a", "b", "c"]) {
      await exchange({
        method: "POST",
        path: "/v1/people",
        headers: { ...CLIENTS.ruby(), ...typed },
        body: json({ email: `${name}@link.example`, send: false }),
      });
    }
    const { link = "" } = await exchange({
      method: "GET",
      path: "/v1/people.json?per_page=2&since=1",
      headers: CLIENTS.ruby(),
    });
    const [, url = ""] = /^<([^>,;]+)>; rel="next"$/.exec(link) ?? [];
    expect(new URL(url).origin).toBe(service.baseUrl);
    const next = await exchange({
      method: "GET",
      path: new URL(url).pathname + new URL(url).search,
      headers: CLIENTS.ruby(),
    });
    expect(next.json).toHaveLength(2);
    // Some clients add their own parameters to the link again.
    expect(
      await exchange({
        method: "GET",
        path: `${new URL(url).pathname}${new URL(url).search}&since=1&per_page=2`,
        headers: CLIENTS.ruby(),
      }),
    ).toEqual(next);
  });
});

describe("php", () => {
  it("when a person is posted as a form, then maps, booleans and plus signs are read", async () => {
    const body = "email=php%2Bx%40example.com&send=false&properties%5Ba+b%5D=1&properties%5Bplan%5D=pro";
    expect(
      await exchange({ method: "POST", path: "/v1/people", headers: { ...CLIENTS.php(), ...form }, body }),
    ).toMatchObject({
      status: 201,
      json: { email: "php+x@example.com", survey_scheduled_at: null, properties: { "a b": "1", plan: "pro" } },
    });
  });

  it("when a filter's plus is not escaped, then the person is found all the same", async () => {
    expect(
      await exchange({ method: "GET", path: "/v1/people?email=php+x@example.com", headers: CLIENTS.php() }),
    ).toMatchObject({
      json: [{ email: "php+x@example.com" }],
    });
    await exchange({
      method: "POST",
      path: "/v1/people",
      headers: { ...CLIENTS.php(), ...form },
      body: "phone_number=%2B14155550177&send=false",
    });
    expect(
      await exchange({ method: "GET", path: "/v1/people?phone_number=+14155550177", headers: CLIENTS.php() }),
    ).toMatchObject({
      json: [{ phone_number: "+14155550177" }],
    });
  });

  it("when a member is removed with a form body, then it names the person", async () => {
    await exchange({
      method: "POST",
      path: "/v1/autopilot/email/memberships",
      headers: { ...CLIENTS.php(), ...form },
      body: "person_email=php%2Bx%40example.com",
    });
    const removed = await exchange({
      method: "DELETE",
      path: "/v1/autopilot/email/memberships",
      headers: { ...CLIENTS.php(), ...form },
      body: "person_email=php%2Bx%40example.com",
    });
    expect(removed).toMatchObject({ status: 202, json: { person: { email: "php+x@example.com" } } });
  });
});

describe("curl and others", () => {
  it("when the suffix is there and no JSON is asked for, then it is given", async () => {
    expect(await exchange({ method: "GET", path: "/v1/metrics.json", headers: CLIENTS.curl() })).toMatchObject({
      status: 200,
      json: { response_count: 1 },
    });
  });

  it.each([
    ["no suffix and an Accept without JSON", { method: "GET", path: "/v1/metrics" }, { accept: "text/html" }, 406],
    [
      "the suffix and an Accept without JSON",
      { method: "GET", path: "/v1/metrics.json" },
      { accept: "text/html" },
      200,
    ],
    ["broken JSON", { method: "POST", path: "/v1/people.json", body: '{"email":"a@example.com",}' }, typed, 400],
    [
      "a body of a type that nobody reads",
      { method: "POST", path: "/v1/people.json", body: "<a/>" },
      { "content-type": "text/xml" },
      415,
    ],
    ["a page below 1", { method: "GET", path: "/v1/bounces.json?page=0" }, {}, 422],
    ["a page of a cursor list", { method: "GET", path: "/v1/people.json?page=2" }, {}, 422],
    ["more than a hundred a page", { method: "GET", path: "/v1/people.json?per_page=1000" }, {}, 200],
    [
      "both identifiers",
      { method: "GET", path: "/v1/people.json?email=a@example.com&phone_number=%2B14155550100" },
      {},
      422,
    ],
    ["a path that is not there", { method: "GET", path: "/v1/hooks.json" }, {}, 404],
    ["a method that is not there", { method: "PATCH", path: "/v1/people.json" }, {}, 405],
  ])("when there is %s, then the status says so", async (_, wire, headers, status) => {
    const reply = await exchange({ ...wire, headers: { ...CLIENTS.curl(), ...headers } });
    expect(reply).toMatchObject({ status });
  });

  it("when a request is refused, then the body says the same", async () => {
    const { json: body } = await exchange({
      method: "GET",
      path: "/v1/bounces.json?page=0&per_page=x",
      headers: CLIENTS.curl(),
    });
    expect(body).toEqual({
      status: 422,
      message: "Unprocessable Entity",
      errors: { page: ["must be an integer of at least 1"], per_page: ["must be an integer of at least 1"] },
    });
  });

  it.each([
    ["no credentials", {}],
    ["a key that is not ours", { authorization: `Basic ${base64("stranger:")}` }],
    ["another scheme", { authorization: "Bearer test-key-of-the-service" }],
  ])("when there are %s, then it is 401", async (_, headers) => {
    expect(await exchange({ method: "GET", path: "/v1/metrics.json", headers })).toMatchObject({
      status: 401,
      json: { status: 401, message: expect.any(String) as unknown },
    });
  });

  it("when a response is for somebody who is not there, then the attribute is named", async () => {
    expect(
      await exchange({
        method: "POST",
        path: "/v1/survey_responses.json",
        headers: { ...CLIENTS.curl(), ...typed },
        body: json({ person: "999999", score: 5 }),
      }),
    ).toMatchObject({
      status: 422,
      json: { errors: { person: expect.any(Array) as unknown } },
    });
  });
});
