import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { onPostgres } from "../../helpers/postgres.ts";
import { openHttp, ORIGIN, type HttpFixture } from "./fixture.ts";

describe("what is refused, and how", () => {
  const state: { http?: HttpFixture } = {};
  const http = (): HttpFixture => state.http as HttpFixture;
  beforeEach(async () => {
    state.http = await openHttp();
  });
  afterEach(() => http().store.close());

  const refusal = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<unknown> => {
    const { status, json } = await http().call(method, path, { body, headers });
    expect((json as { status: number }).status).toBe(status);
    return json;
  };

  it.each([
    ["/v1/nothing", "GET"],
    ["/v2/people.json", "GET"],
    ["/v1/people.json/", "GET"],
    ["/v1/autopilot/fax.json", "GET"],
    ["/v1/survey_responses/999.json", "GET"],
    ["/v1/survey_responses/abc.json", "GET"],
    ["/v1/people/999", "DELETE"],
    ["/v1/people/email:nobody@x.co", "DELETE"],
    ["/v1/people/nobody@x.co/survey_requests/pending.json", "DELETE"],
    ["/v1/people/%zz", "DELETE"],
  ])("when %s is not there, then %s of it is 404", async (path, method) => {
    expect(await refusal(method, path)).toEqual({ status: 404, message: "Not Found" });
  });

  it.each([
    ["PUT", "/v1/people.json", "GET, HEAD, POST"],
    ["DELETE", "/v1/metrics", "GET, HEAD"],
    ["POST", "/v1/survey_responses/1.json", "DELETE, GET, HEAD, PUT"],
    ["POST", "/v1/people/1.json", "DELETE, GET, HEAD"],
    ["OPTIONS", "/v1/people.json", "GET, HEAD, POST"],
    ["POST", "/healthz", "GET, HEAD"],
  ])("when %s is no method of %s, then 405 allows %s", async (method, path, allow) => {
    const answer = await http().call(method, path);
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
  });

  it.each([
    [undefined],
    ["Basic"],
    ["Bearer key-of-the-tests"],
    [`Basic ${Buffer.from("wrong:").toString("base64")}`],
    ["Basic Og=="],
    ["Basic %"],
  ])("when the credentials are %s, then 401 says how", async (authorization) => {
    const headers: Record<string, string> = authorization === undefined ? { authorization: "" } : { authorization };
    const answer = await http().call("GET", "/v1/people.json", { headers });
    expect(answer.json).toEqual({ status: 401, message: "Unauthorized" });
    expect(answer.headers["www-authenticate"]).toMatch(/^Basic realm=/);
  });

  it.each([
    ["text/html", "/v1/people", 406],
    ["text/html", "/v1/people.json", 200],
    ["application/json;q=0, */*", "/v1/people", 406],
    ["text/html, application/xhtml+xml, */*;q=0.8", "/v1/people", 200],
    ["application/*", "/v1/people", 200],
    ["", "/v1/people", 200],
  ])("when Accept is %j, then %s is %i", async (accept, path, status) => {
    expect((await http().call("GET", path, { headers: { accept } })).status).toBe(status);
  });

  it.each([
    ['{"email":', 400, /not valid JSON/],
    ["[1]", 400, /one JSON object/],
    ["null", 400, /one JSON object/],
    ["nonsense", 400, /not valid JSON/],
    [" ".repeat(1024 * 1024 + 1), 413, /at most 1048576 bytes/],
  ])("when the body is %.10j, then it is %i", async (body, status, message) => {
    const answer = await http().call("POST", "/v1/people.json", {
      body,
      headers: { "content-type": "application/json" },
    });
    expect(answer.json).toEqual({ status, message: expect.stringMatching(message) });
  });

  it.each([
    ["text/plain"],
    ["multipart/form-data; boundary=x"],
    ["application/json; charset=iso-8859-1"],
    ["application/xml"],
  ])("when a body comes as %s, then it is 415", async (type) => {
    const answer = await http().call("POST", "/v1/people.json", {
      body: '{"email":"a@x.co"}',
      headers: { "content-type": type },
    });
    expect(answer.status).toBe(415);
    expect(await http().get("/v1/people")).toEqual([]);
  });

  it.each<[string, unknown, Record<string, string[]>]>([
    ["POST /v1/people", {}, { email: ["can't be blank"] }],
    ["POST /v1/people", { email: "nix" }, { email: ["is invalid"] }],
    ["POST /v1/people", { email: { a: 1 } }, { email: ["must be text"] }],
    ["POST /v1/people", { email: "a@x.co", channel: "sms" }, { phone_number: ["can't be blank"] }],
    ["POST /v1/people", { channel: "sms" }, { phone_number: ["can't be blank"] }],
    ["POST /v1/people", { phone_number_update: "+14155550102" }, { phone_number: ["can't be blank"] }],
    ["POST /v1/people", { email_update: "b@x.co" }, { email: ["can't be blank"] }],
    [
      "POST /v1/people",
      { phone_number_update: "+14155550102", email_update: "b@x.co" },
      { email: ["can't be blank"], phone_number: ["can't be blank"] },
    ],
    ["POST /v1/people", { phone_number: "", channel: "sms" }, { phone_number: ["can't be blank"] }],
    [
      "POST /v1/people",
      {
        email: "a@",
        phone_number: "555",
        channel: "fax",
        delay: -1,
        send: "maybe",
        last_sent_at: "yesterday",
        properties: "x",
      },
      {
        email: ["is invalid"],
        phone_number: ["must be in E.164 format, such as +14155551212"],
        channel: ["must be one of email, sms"],
        delay: ["must be an integer of at least 0"],
        send: ["must be true or false"],
        last_sent_at: ["must be a Unix timestamp in whole seconds"],
        properties: ["must be a map of names to values"],
      },
    ],
    [
      "POST /v1/people",
      {
        email: "a@x.co",
        properties: { service_email_subject: "x".repeat(151), service_intro_message: "x".repeat(301) },
      },
      {
        service_email_subject: ["is too long (maximum is 150 characters)"],
        service_intro_message: ["is too long (maximum is 300 characters)"],
      },
    ],
    ["POST /v1/people", { email: "a@x.co", name: "a\0b" }, { name: ["must not contain null characters"] }],
    [
      "POST /v1/people",
      { email: "a@x.co", last_sent_at: 1_750_000_000_000 },
      { last_sent_at: ["must be a Unix timestamp in whole seconds"] },
    ],
    ["POST /v1/survey_responses", {}, { person: ["can't be blank"], score: ["can't be blank"] }],
    ["POST /v1/survey_responses", { person: 99, score: 5 }, { person: ["does not exist"] }],
    [
      "POST /v1/survey_responses",
      { person: 99, score: 11 },
      { score: ["must be an integer from 0 to 10"], person: ["does not exist"] },
    ],
    [
      "POST /v1/survey_responses",
      { person: 1, score: 7.5, created_at: "x" },
      {
        score: ["must be an integer from 0 to 10"],
        created_at: ["must be a Unix timestamp in whole seconds"],
        person: ["does not exist"],
      },
    ],
    ["PUT /v1/survey_responses", { score: 5 }, { id: ["can't be blank"] }],
    [
      "PUT /v1/survey_responses/1",
      { person: 99, score: 11 },
      { score: ["must be an integer from 0 to 10"], person: ["does not exist"] },
    ],
    ["POST /v1/unsubscribes", {}, { person_email: ["can't be blank"] }],
    [
      "DELETE /v1/autopilot/email/memberships",
      {},
      {
        person_email: ["can't be blank: give exactly one of person_id, person_email, person_phone_number"],
      },
    ],
    [
      "DELETE /v1/autopilot/sms/memberships",
      { phone_number: "+14155551212" },
      {
        person_phone_number: ["can't be blank: give exactly one of person_id, person_email, person_phone_number"],
      },
    ],
    [
      "DELETE /v1/autopilot/email/memberships",
      { person_id: 1, person_email: "a@x.co" },
      {
        person_id: ["can't be combined: give exactly one of person_id, person_email, person_phone_number"],
        person_email: ["can't be combined: give exactly one of person_id, person_email, person_phone_number"],
      },
    ],
    [
      "GET /v1/people?email=a@x.co&phone_number=%2B14155551212",
      undefined,
      {
        email: ["can't be combined with phone_number"],
        phone_number: ["can't be combined with email"],
      },
    ],
    [
      "GET /v1/people?page=2&per_page=0",
      undefined,
      {
        page: ["is not known here: follow the Link header, or give its page_info"],
        per_page: ["must be an integer of at least 1"],
      },
    ],
    ["GET /v1/people?page_info=nix", undefined, { page_info: ["is invalid"] }],
    [
      "GET /v1/people?per_page=x&since=x&until=1.5",
      undefined,
      {
        per_page: ["must be an integer of at least 1"],
        since: ["must be a Unix timestamp in whole seconds"],
        until: ["must be a Unix timestamp in whole seconds"],
      },
    ],
    [
      "GET /v1/survey_responses?page=0&order=up&trend=7",
      undefined,
      {
        page: ["must be an integer of at least 1"],
        order: ["must be one of asc, desc, asc:updated_at, desc:updated_at"],
      },
    ],
    ["GET /v1/survey_responses?trend=7", undefined, { trend: ["does not exist"] }],
    ["GET /v1/bounces?page=-1", undefined, { page: ["must be an integer of at least 1"] }],
    [
      "GET /v1/metrics?groups[]=core&groups[]=fax",
      undefined,
      { groups: ["must be among core, email, kiosk, link, sms, web"] },
    ],
  ])("when %s gets %j, then each bad attribute is named", async (call, body, errors) => {
    const [method = "", path = ""] = call.split(" ");
    expect(await refusal(method, path, body)).toEqual({ status: 422, message: "Unprocessable Entity", errors });
    expect(await http().get("/v1/people")).toEqual([]);
  });

  it("when a fault is our own, then 500 tells nothing and the log tells where", async () => {
    await http().store.close();
    const answer = await http().call("GET", "/v1/people");
    expect(answer.json).toEqual({ status: 500, message: "Internal Server Error" });
    expect(http().logged()).toMatchObject([
      { level: "error", event: "fault", request_id: answer.headers["x-request-id"] },
      { level: "info", event: "request", status: 500 },
    ]);
    state.http = await openHttp();
  });
});

describe("what every answer has", () => {
  it("when anything is answered, then it has an id of its own, a date and its type", async () => {
    const http = await openHttp();
    const answers = [
      await http.call("GET", "/v1/people"),
      await http.call("GET", "/nix"),
      await http.call("GET", "/healthz"),
    ];
    expect(new Set(answers.map(({ headers }) => headers["x-request-id"])).size).toBe(3);
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        date: "Sun, 15 Jun 2025 15:06:40 GMT",
        "content-type": "application/json; charset=utf-8",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      });
      // A counter would reveal other projects' traffic.
      expect(headers["x-request-id"]).toMatch(/^[\w-]{16}$/);
    }
    await http.store.close();
  });

  it.each([
    ["a-1_Z", true],
    ["x".repeat(64), true],
    ["x".repeat(65), false],
    ["", false],
    ["a b", false],
    ["a\r\nb", false],
  ])(
    "when a request brings the id %j, then that it has it is %s, and else it has one of ours",
    async (given, isKept) => {
      const http = await openHttp();
      const { headers } = await http.call("GET", "/v1/people", { headers: { "x-request-id": given } });
      expect([headers["x-request-id"] === given, headers["x-request-id"]?.length]).toEqual([
        isKept,
        isKept ? given.length : 16,
      ]);
      expect(http.logged()).toMatchObject([{ request_id: headers["x-request-id"] }]);
      await http.store.close();
    },
  );

  it.each([
    ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "0af7651916cd43dd8448eb211c80319c"],
    ["cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", "0af7651916cd43dd8448eb211c80319c"],
    ["ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", undefined],
    ["00-00000000000000000000000000000000-b7ad6b7169203331-01", undefined],
    ["00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", undefined],
  ])("when a request is part of the trace %s, then its log line has %s", async (traceparent, traceId) => {
    const http = await openHttp();
    const { headers } = await http.call("GET", "/v1/people", { headers: { traceparent } });
    expect(http.logged()).toEqual([
      {
        time: "2025-06-15T15:06:40.000Z",
        level: "info",
        event: "request",
        msg: "request",
        request_id: headers["x-request-id"],
        ...(traceId === undefined ? {} : { trace_id: traceId }),
        method: "GET",
        path: "/v1/people",
        route: "listPeople",
        status: 200,
        duration_ms: 0,
        project: "default",
        engine: onPostgres ? "postgresql" : "sqlite",
      },
    ]);
    await http.store.close();
  });

  it("when HEAD is asked, then the headers are GET's and the body is not there", async () => {
    const http = await openHttp();
    await http.post("/v1/people", { email: "ä@x.co", send: false });
    const get = await http.call("GET", "/v1/people");
    const head = await http.call("HEAD", "/v1/people");
    expect([head.status, head.text, head.headers["content-length"]]).toEqual([
      200,
      "",
      String(Buffer.byteLength(get.text)),
    ]);
    await http.store.close();
  });

  it("when a request is logged, then neither query, body, key nor address is", async () => {
    const http = await openHttp();
    await http.call("GET", "/v1/people?email=secret@x.co");
    await http.call("DELETE", "/v1/people/email:secret@x.co");
    await http.call("GET", "/secret@x.co/+14155551212/path");
    const lines = http.logged();
    expect(lines.map(({ path, route, status }) => [path, route, status])).toEqual([
      ["/v1/people", "listPeople", 200],
      ["/v1/people/{person}", "deletePerson", 404],
      ["/*/*/path", null, 404],
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/secret|key-of-the-tests|4155/);
    await http.store.close();
  });

  it("when the public URL is set, then links lie there, and for callers on this machine where they asked", async () => {
    const http = await openHttp({ publicUrl: "https://survey.example.com" });
    for (const name of ["a", "b"]) await http.post("/v1/people", { email: `${name}@x.co`, send: false });
    const { headers } = await http.call("GET", "/v1/people?per_page=1");
    expect(headers.link).toMatch(/^<https:\/\/survey\.example\.com\/v1\/people\?page_info=/);
    const url = `${ORIGIN}/v1/people?per_page=1`;
    const local = await http.service.handle(
      { method: "GET", url, headers: { authorization: `Basic ${btoa("key-of-the-tests")}` } },
      "local",
    );
    expect(local.headers.link).toMatch(/^<http:\/\/survey\.test:8080\/v1\/people\?page_info=/);
    await http.store.close();
  });

  it.each([
    ["POST", "cross-site", 403],
    ["DELETE", "cross-site", 403],
    ["GET", "cross-site", 200],
    ["POST", "same-origin", 422],
    ["POST", "none", 422],
  ])("when a browser says that a %s is %s, then it is %i", async (method, site, status) => {
    const http = await openHttp();
    const path = method === "DELETE" ? "/v1/people/1" : "/v1/people";
    expect((await http.call(method, path, { headers: { "sec-fetch-site": site } })).status).toBe(status);
    await http.store.close();
  });
});
