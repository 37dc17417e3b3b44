import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listen, type Listening } from "../../../src/service/http/server.ts";
import { BASIC, listenTo, openHttp, parseRaw, rawRequest, sendRaw, type HttpFixture } from "./fixture.ts";

const state: { http?: HttpFixture; listening?: Listening } = {};
const url = (): string => state.listening?.url ?? "";
beforeEach(async () => {
  state.http = await openHttp();
  state.listening = await listenTo(state.http);
});
afterEach(async () => {
  await state.listening?.close();
  await state.http?.store.close();
});

const AUTH = [`Authorization: ${BASIC}`, "Content-Type: application/json"];

it("when a body announces more than a MiB, then 413 comes although it was never sent", async () => {
  const text = [
    "POST /v1/people HTTP/1.1",
    "Host: x",
    ...AUTH,
    "Content-Length: 9999999",
    "Connection: close",
    "",
    "{",
  ].join("\r\n");
  expect(parseRaw(await sendRaw(url(), text))).toMatchObject({ status: 413, json: { status: 413 } });
});

it("when a body of unknown length passes a MiB, then 413 comes and the client can read it", async () => {
  const head = lines("POST /v1/people HTTP/1.1", "Host: x", ...AUTH, "Transfer-Encoding: chunked");
  const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
  const next = lines("GET /healthz HTTP/1.1", "Host: x", "Connection: close");
  const answers = await answersTo([head, ...Array.from({ length: 40 }, () => chunk), "0\r\n\r\n", next]);
  expect(answers.map(({ status }) => status)).toEqual([413, 200]);
});

it("an idle connection is kept longer than the minute that load balancers keep it", async () => {
  const { headers } = await fetch(`${url()}/healthz`);
  expect(headers.get("keep-alive")).toBe("timeout=75");
});

it("when a body of unknown length is small, then it is read", async () => {
  const body = '{"email":"a@x.co","send":false}';
  const head = [
    "POST /v1/people HTTP/1.1",
    "Host: x",
    ...AUTH,
    "Transfer-Encoding: chunked",
    "Connection: close",
    "",
    "",
  ].join("\r\n");
  const answer = parseRaw(await sendRaw(url(), `${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`));
  expect(answer).toMatchObject({ status: 201, json: { email: "a@x.co" } });
});

it("when a body is no UTF-8, then 400 says so", async () => {
  const head = ["POST /v1/people HTTP/1.1", "Host: x", ...AUTH, "Content-Length: 4", "Connection: close", "", ""].join(
    "\r\n",
  );
  const answer = parseRaw(await sendRaw(url(), [head, Buffer.from([0x7b, 0x22, 0xff, 0xfe])]));
  expect(answer).toMatchObject({ status: 400, json: { message: expect.stringMatching(/not UTF-8/) } });
});

it.each([
  ["/v1/people?per_page=1 HTTP/1.1", "Host:", "http://127.0.0.1:"],
  ["/v1/people?per_page=1 HTTP/1.0", "Accept: */*", "http://127.0.0.1:"],
  ["/v1/people?per_page=1 HTTP/1.1", "Host: survey.example:81", "http://survey.example:81/"],
  ["/v1/people?per_page=1 HTTP/1.1", "Host: [::1]:81", "http://[::1]:81/"],
  ["http://asked.example:82/v1/people?per_page=1 HTTP/1.1", "Host: other", "http://asked.example:82/"],
])("when the request line says %s and the header %s, then links begin with %s", async (line, host, prefix) => {
  for (const name of ["a", "b"]) await state.http?.post("/v1/people", { email: `${name}@x.co`, send: false });
  const text = [`GET ${line}`, host, ...AUTH, "Connection: close", "", ""].join("\r\n");
  expect(parseRaw(await sendRaw(url(), text)).headers.link?.startsWith(`<${prefix}`)).toBe(true);
});

it("when HEAD is asked over a socket, then no body follows", async () => {
  const answer = parseRaw(await sendRaw(url(), rawRequest(url(), "HEAD /v1/people", AUTH)));
  expect([answer.status, answer.headers["content-length"], answer.text]).toEqual([200, "2", ""]);
});

async function askResponses(method: string): Promise<ReturnType<typeof parseRaw>> {
  return parseRaw(await sendRaw(url(), rawRequest(url(), `${method} /v1/survey_responses`, AUTH)));
}

it("when HEAD is asked for a page that comes in parts, then no length is told", async () => {
  for (const score of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) {
    const person = await state.http?.post("/v1/people", { email: `p${score}@x.co`, send: false });
    await state.http?.post("/v1/survey_responses", { person: person?.["id"], score, comment: "é".repeat(30_000) });
  }
  const [whole, head] = [await askResponses("GET"), await askResponses("HEAD")];
  expect(whole.text.length).toBeGreaterThan(300_000);
  expect([head.status, head.text]).toEqual([200, ""]);
  expect([head.headers["content-length"], whole.headers["content-length"]]).toEqual([undefined, undefined]);
});

it("when there are two Authorization headers, then none of them counts", async () => {
  const wrong = `Authorization: Basic ${btoa("wrong:")}`;
  for (const headers of [
    [wrong, ...AUTH],
    [...AUTH, wrong],
    [...AUTH, `AUTHORIZATION: ${BASIC}`],
  ]) {
    const answer = parseRaw(await sendRaw(url(), rawRequest(url(), "GET /v1/people", headers)));
    const message = "Bad Request: there is more than one Authorization header";
    expect([answer.status, answer.json]).toEqual([400, { status: 400, message }]);
  }
});

it("when a proxy's absolute form comes, then the path counts", async () => {
  expect(parseRaw(await sendRaw(url(), rawRequest(url(), "GET http://other/v1/people", AUTH))).status).toBe(200);
});

it("when the server closes, then a request in flight is answered first", async () => {
  const answered = new Promise<number | undefined>((resolve, reject) => {
    const outgoing = request(`${url()}/v1/people`, {
      method: "POST",
      headers: { authorization: BASIC, "content-type": "application/json" },
    });
    outgoing.on("response", (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode);
    });
    outgoing.on("error", reject);
    outgoing.write('{"email":"a@x.co",');
    outgoing.once("socket", (socket) =>
      socket.once("connect", () => {
        setTimeout(() => {
          void state.listening?.close();
          outgoing.end('"send":false}');
        }, 100);
      }),
    );
  });
  expect(await answered).toBe(201);
  await expect(sendRaw(url(), rawRequest(url(), "GET /healthz", []))).rejects.toThrow(/ECONNREFUSED/);
});

const PERSON = '{"email":"a@x.co","send":false}';

async function answersTo(parts: readonly (string | Uint8Array)[]): Promise<{ status: number; body: string }[]> {
  const text = await sendRaw(url(), parts);
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .map((answer) => ({ status: Number(answer.slice(9, 12)), body: answer.slice(answer.indexOf("\r\n\r\n") + 4) }));
}

const lines = (...all: readonly string[]): string => [...all, "", ""].join("\r\n");

it("answers requests of a connection that are sent without waiting in their order", async () => {
  const write = lines("POST /v1/people HTTP/1.1", "Host: x", ...AUTH, `Content-Length: ${PERSON.length}`) + PERSON;
  const read = lines("GET /v1/people?email=a@x.co HTTP/1.1", "Host: x", ...AUTH, "Connection: close");
  expect((await answersTo([write + read])).map(({ status }) => status)).toEqual([201, 200]);
});

describe("what is refused before there is a request", () => {
  it.each<[string, number, string, string]>([
    ["a line that is not HTTP", 400, "-", lines("nonsense")],
    ["no Host", 400, "GET", lines("GET /healthz HTTP/1.1", "Connection: close")],
    ["two Hosts", 400, "GET", lines("GET /healthz HTTP/1.1", "Host: a", "Host: b", "Connection: close")],
    ["a Host with a path", 400, "GET", lines("GET /healthz HTTP/1.1", "Host: a/b?c", "Connection: close")],
    ["a Host of dots", 400, "GET", lines("GET /healthz HTTP/1.1", "Host: ..", "Connection: close")],
    ["an IPv4 address beyond all", 400, "GET", lines("GET /s/x HTTP/1.1", "Host: 256.1.1.1", "Connection: close")],
    ["an IPv6 address of colons", 400, "GET", lines("GET /s/x HTTP/1.1", "Host: [::::]", "Connection: close")],
    [
      "a label that encodes nothing",
      400,
      "GET",
      lines("GET http://xn--a/s/x HTTP/1.1", "Host: a", "Connection: close"),
    ],
    ["a port beyond all", 400, "GET", lines("GET /healthz HTTP/1.1", "Host: a:99999", "Connection: close")],
    ["a user in the target", 400, "GET", lines("GET http://u@a/healthz HTTP/1.1", "Host: a", "Connection: close")],
    ["an unknown Expect", 417, "GET", lines("GET /healthz HTTP/1.1", "Host: a", "Expect: x", "Connection: close")],
    ["20 KB of headers", 431, "-", lines("GET /healthz HTTP/1.1", `Host: a`, `X-Long: ${"x".repeat(20_000)}`)],
    [
      "a chunk without a size",
      400,
      "POST",
      lines("POST /v1/people HTTP/1.1", "Host: a", ...AUTH, "Transfer-Encoding: chunked") + "nix\r\n",
    ],
  ])("when there is %s, then %i comes as JSON with an id, is logged and counted", async (_, status, method, text) => {
    const answer = parseRaw(await sendRaw(url(), text));
    expect(answer).toMatchObject({
      status,
      json: { status, message: expect.any(String) },
      headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
    });
    expect(state.http?.logged().map((line) => [line.request_id, line.method, line.status])).toEqual([
      [answer.headers["x-request-id"], method, status],
    ]);
    expect(String((await state.http?.call("GET", "/metrics"))?.text)).toContain(`status="${status}"} 1\n`);
  });

  it("when a URL has a letter that is not encoded, then 400 says so", async () => {
    const answer = parseRaw(
      await sendRaw(url(), lines("GET /v1/people?email=jürgen@x.co HTTP/1.1", "Host: a", ...AUTH)),
    );
    expect(answer).toMatchObject({ status: 400, json: { message: expect.stringMatching(/must be percent-encoded$/) } });
  });

  it("when garbage follows a request, then the request is answered and the connection closed", async () => {
    const read = lines("GET /v1/people HTTP/1.1", "Host: x", ...AUTH);
    const answers = await answersTo([`${read}nonsense\r\n\r\n`]);
    expect(answers.map(({ status }) => status)).toEqual([200]);
  });
});

const unfinished = (path: string, ...headers: readonly string[]): string =>
  `${lines(`POST ${path} HTTP/1.1`, "Host: x", "Content-Length: 1000", ...headers)}{`;

const ask = (...headers: readonly string[]): Promise<{ status: number }> =>
  firstAnswer(lines("POST /v1/people HTTP/1.1", "Host: x", "Expect: 100-continue", "Content-Length: 9", ...headers));

describe("headers decide before a body is read", () => {
  it.each([
    ["no key", 401, unfinished("/v1/people", "Content-Type: application/json")],
    ["an unknown path", 404, unfinished("/v1/nix", ...AUTH)],
    ["a wrong method", 405, unfinished("/v1/metrics", ...AUTH)],
    ["a foreign Accept", 406, unfinished("/v1/people", ...AUTH, "Accept: text/html")],
    ["a foreign type", 415, unfinished("/v1/people", ...AUTH.slice(0, 1), "Content-Type: text/plain")],
    ["a compressed body", 415, unfinished("/v1/people", ...AUTH, "Content-Encoding: gzip")],
    ["another site's page", 403, unfinished("/v1/people", ...AUTH, "Sec-Fetch-Site: cross-site")],
  ])("when a body never ends and there is %s, then %i comes at once", async (_, status, text) => {
    expect((await firstAnswer(text)).status).toBe(status);
  });

  it("when a refused body goes on, then the next request on the connection is answered", async () => {
    const refused = lines("POST /v1/nix HTTP/1.1", "Host: x", "Content-Length: 200000") + "x".repeat(200_000);
    const next = lines("GET /healthz HTTP/1.1", "Host: x", "Connection: close");
    expect((await answersTo([refused, next])).map(({ status }) => status)).toEqual([404, 200]);
  });

  it("when the caller waits to be told to go on, then only a body that will be read is asked for", async () => {
    expect([(await ask()).status, (await ask(...AUTH)).status]).toEqual([401, 100]);
  });
});

function firstAnswer(text: string): Promise<{ status: number }> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url()).port), "127.0.0.1", () => socket.write(text));
    socket.once("data", (chunk: Buffer) => {
      socket.destroy();
      resolve(parseRaw(chunk.toString()));
    });
    socket.once("error", reject);
  });
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/**
 * Waits until the kernel no longer lists the server's end of a connection as established. The client can't see that.
 */
async function serverLetGo({ localPort = 0, remotePort = 0 }: Socket): Promise<void> {
  const open = new RegExp(`0100007F:${hex(remotePort)} 0100007F:${hex(localPort)} 01 `);
  while (open.test(readFileSync("/proc/net/tcp", "latin1"))) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("a listener with little patience", () => {
  const limits = { connections: 3, requestMs: 600, unreadMs: 300 };
  const listening: { impatient?: Listening } = {};
  const impatient = (): Listening => listening.impatient as Listening;
  beforeEach(async () => {
    const face = state.http?.service as HttpFixture["service"];
    listening.impatient = await listen(face, { host: "127.0.0.1", port: 0, tls: null, limits });
  });
  afterEach(() => impatient().close());

  it.each([
    ["its headers", "-", "GET /healthz HTTP/1.1\r\nHost: x\r\n"],
    ["a body that is read", "POST", unfinished("/v1/people", ...AUTH)],
  ])("when a client never ends %s, then 408 comes and is logged", async (_, method, text) => {
    const answer = parseRaw(await sendRaw(impatient().url, text));
    expect(answer).toMatchObject({ status: 408, json: { status: 408, message: "Request Timeout" } });
    expect(state.http?.logged().map((line) => [line.method, line.status])).toEqual([[method, 408]]);
  });

  it("when a client never ends a body that is refused, then its connection is closed", async () => {
    expect(parseRaw(await sendRaw(impatient().url, unfinished("/v1/people"))).status).toBe(401);
  });

  it("when a client reads nothing of a large answer, then it is cut off", async () => {
    const { id: person } = (await state.http?.post("/v1/people", { email: "a@x.co", send: false })) ?? {};
    const large = { person, score: 5, comment: "x".repeat(65_536), person_properties: { a: "x".repeat(65_000) } };
    for (let count = 0; count < 100; count += 1) await state.http?.post("/v1/survey_responses", large);
    const socket = connect(Number(new URL(impatient().url).port), "127.0.0.1");
    socket.pause().on("error", () => undefined);
    socket.write(lines("GET /v1/survey_responses?per_page=100 HTTP/1.1", "Host: x", ...AUTH));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await once(socket, "connect");
    await serverLetGo(socket);
    const length = (await socket.resume().toArray()).reduce((sum, chunk: Buffer) => sum + chunk.length, 0);
    await closed;
    expect(length).toBeLessThan(12_000_000);
  });

  it("when there are as many connections as may be, then one more is closed", async () => {
    const { port } = new URL(impatient().url);
    const open = Array.from({ length: 3 }, () => connect(Number(port), "127.0.0.1"));
    await Promise.all(open.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
    const text = await sendRaw(impatient().url, lines("GET /healthz HTTP/1.1", "Host: x")).catch(() => "");
    expect(text).toBe("");
    for (const socket of open) socket.destroy();
  });
});
