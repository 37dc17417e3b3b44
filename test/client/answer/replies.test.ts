import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { BadReplyError } from "../../../src/client/errors/call-errors.ts";
import {
  answer,
  cutChunked,
  cutShort,
  drained,
  flood,
  json,
  raw,
  type Behaviour,
} from "../../helpers/misbehaving-server.ts";
import { API_KEY, collect, failureOf, withServer } from "../with-server.ts";

const once = { client: { policy: { retries: 0 } } };
const html = "<!DOCTYPE html><html><head><title>Down for\n maintenance</title></head><body>…</body></html>";

describe("answers that cannot be used", () => {
  it.each<[string, Behaviour, RegExp]>([
    [
      "is HTML",
      answer(200, html, { "content-type": "text/html" }),
      /^the answer is not JSON \(status 200, content type text\/html, a body that begins "<!DOCTYPE html><html><head><title>Down for maintenance/,
    ],
    ["is empty", answer(200, ""), /^the answer is empty \(status 200, content type application\/json, an empty body\)/],
    [
      "has no body at all",
      answer(204, "", { "content-type": null, "content-length": null }),
      /^the answer is empty \(status 204, content type absent, an empty body\)/,
    ],
    [
      "is cut short",
      cutShort('{"nps"'),
      /^the answer was cut short after 6 bytes \(status 200, content type application\/json, a body that begins "\{\\"nps\\""\)/,
    ],
    ["loses its last chunk", cutChunked('{"nps":'), /^the answer was cut short after 7 bytes/],
    [
      "promises less than it sends",
      raw('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{"nps":1}'),
      /^the answer is not JSON .*a body that begins "\{\\"nps"/,
    ],
    ["is a list instead of an object", json([{ nps: 1 }]), /^the answer is a list where an object was expected/],
    ["is null", json(null), /^the answer is null where an object was expected/],
    ["is text", json("fine"), /^the answer is a string where an object was expected/],
    ["is Latin-1", answer(200, Buffer.from('{"name":"Zoë"}', "latin1")), /^the answer is not UTF-8 text/],
    ["is UTF-16", answer(200, Buffer.from('\uFEFF{"nps":1}', "utf16le")), /^the answer is not UTF-8 text/],
    [
      "has an encoding that was not asked for",
      answer(200, "x", { "content-encoding": "zstd" }),
      /^the answer has an encoding that was not asked for, "zstd"/,
    ],
    [
      "says gzip and is none",
      answer(200, "{}", { "content-encoding": "gzip" }),
      /^the answer cannot be unpacked as gzip/,
    ],
    ["is white space", answer(200, " \n "), /a body that begins " "\)/],
    ["holds controls", answer(200, "\u001B[2J\u202Ehello\u0000"), /a body that begins "\[2J hello"\)/],
  ])("when it %s", async (_, behaviour, message) => {
    const { client } = await withServer([behaviour], once);
    const error = await failureOf(client.getMetrics({}));
    expect(error).toBeInstanceOf(BadReplyError);
    expect(error.message).toMatch(message);
    expect(error.message).toMatch(/: GET http:\/\/127\.0\.0\.1:\d+\/v1\/metrics\.json$/);
  });

  it.each<[string, Behaviour, RegExp]>([
    ["an object", json({ people: [] }), /^the answer is an object where a list was expected/],
    ["a list of texts", json(["a"]), /^the list holds a string where objects were expected/],
    ["a list with null", json([{}, null]), /^the list holds null where objects were expected/],
    ["nothing", answer(200, ""), /^the answer is empty/],
    ["a list cut short", cutShort('[{"id":"1"},'), /^the answer was cut short after 12 bytes/],
  ])("when a list is %s, then it is never an empty result", async (_, behaviour, message) => {
    const { client } = await withServer([behaviour], once);
    expect((await failureOf(collect(client.listPeople({})))).message).toMatch(message);
  });

  it("when the body repeats the key, then the error does not", async () => {
    const basic = Buffer.from(`${API_KEY}:`).toString("base64");
    const { client } = await withServer([answer(200, `${API_KEY} ${basic}`)], once);
    expect((await failureOf(client.getMetrics({}))).message).toContain(
      'a body that begins "[key removed] [key removed]"',
    );
  });

  it("when a cut answer is followed by a whole one, then a read is repeated", async () => {
    const { client, clock } = await withServer([cutShort("[{"), cutChunked("["), json([{ id: "1" }])]);
    expect((await client.listPeople({}).next()).value?.rows).toEqual([{ id: "1" }]);
    expect(clock.sleeps).toEqual([200, 400]);
  });

  it("when a body has a gigabyte, then it is an error and memory stays", async () => {
    const { client } = await withServer([flood(2 ** 30)], once);
    const before = process.memoryUsage().rss;
    const error = await failureOf(client.getMetrics({}));
    expect(error.message).toMatch(/^the answer is larger than 64 MiB/);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  });

  it("when a packed body unpacks to a gigabyte, then it is an error", async () => {
    const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024), { level: 1 });
    const { client } = await withServer([answer(200, bomb, { "content-encoding": "gzip" })], once);
    expect((await failureOf(client.getMetrics({}))).message).toMatch(/^the answer is too large once unpacked/);
  });
});

describe("answers that can", () => {
  const body = Buffer.from('{"name":"Zoë 👋"}');
  it.each<[string, Behaviour]>([
    ["plain", answer(200, body)],
    ["with a byte order mark", answer(200, Buffer.concat([Buffer.from("\uFEFF"), body]))],
    ["gzip", answer(200, gzipSync(body), { "content-encoding": "gzip" })],
    ["deflate", answer(200, deflateSync(body), { "content-encoding": "deflate" })],
    [
      "deflate without its frame, as some services send it",
      answer(200, deflateRawSync(body), { "content-encoding": "deflate" }),
    ],
    ["packed twice", answer(200, brotliCompressSync(gzipSync(body)), { "content-encoding": "gzip, br" })],
    ["br", answer(200, brotliCompressSync(body), { "content-encoding": "br" })],
    ["called text/html", answer(200, body, { "content-type": "text/html" })],
    [
      "announced by 103",
      raw(
        Buffer.concat([
          Buffer.from(`HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`),
          body,
        ]),
      ),
    ],
    ["without a length", raw(Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"), body]))],
  ])("when it comes %s", async (_, behaviour) => {
    const { client } = await withServer([behaviour], once);
    expect((await client.getMetrics({})).json).toEqual({ name: "Zoë 👋" });
  });

  it.each(["gzip", "deflate", "br"])(
    "when %s is said of no body, as HEAD is answered, then there is none",
    async (encoding) => {
      const { client, server } = await withServer([answer(200, "", { "content-encoding": encoding })], once);
      const { status, text } = await client.raw({ method: "HEAD", url: `${server.baseUrl}/v1/people.json` });
      expect({ status, text }).toEqual({ status: 200, text: "" });
    },
  );

  it("when numbers and fields are beyond what we know, then the text keeps them", async () => {
    const text = '[{"id":12345678901234567890,"new":1.0}]';
    const { client } = await withServer([answer(200, text)]);
    expect((await client.listPeople({}).next()).value?.text).toBe(text);
  });
});

const endless: Behaviour = async (socket) => {
  socket.write("HTTP/1.1 500 Oops\r\n\r\n");
  while (!socket.destroyed) {
    if (!socket.write("x".repeat(65_536))) await drained(socket);
  }
};

describe("answers that refuse", () => {
  it.each<[number, string, string, string, string]>([
    [
      401,
      '{"status":401,"message":"Unauthorized"}',
      "AuthError",
      "unauthorized",
      'the service refused the key with 401 "Unauthorized"',
    ],
    [403, "", "AuthError", "forbidden", "the service refused the key with 403"],
    [404, '{"error":"no such person"}', "RefusedError", "not_found", 'the service answered 404 "no such person"'],
    [410, "Gone.", "RefusedError", "refused", 'the service answered 410 "Gone."'],
    [
      422,
      '{"status":422,"message":"Unprocessable Entity","errors":{"email":["is invalid","is taken"],"name":"is long"}}',
      "RefusedError",
      "refused",
      'the service answered 422 "email is invalid, is taken; name is long"',
    ],
    [
      422,
      '{"errors":[{"message":"bad"},"worse",{"detail":"worst"}]}',
      "RefusedError",
      "refused",
      'the service answered 422 "bad; worse; worst"',
    ],
    [400, '["one","two"]', "RefusedError", "refused", 'the service answered 400 "one; two"'],
    [400, '"text"', "RefusedError", "refused", 'the service answered 400 "text"'],
    [400, '{"error":{"message":"deep"}}', "RefusedError", "refused", 'the service answered 400 "deep"'],
    [400, '{"code":7}', "RefusedError", "refused", 'the service answered 400 "{"code":7}"'],
    [503, html, "ServiceError", "service_failed", 'the service answered 503 "Down for maintenance"'],
    [
      500,
      "<html><body><h1>Oops</h1><script>x()</script><p>it &amp; broke &toString;</p></body></html>",
      "ServiceError",
      "service_failed",
      'the service answered 500 "Oops it & broke &toString;"',
    ],
    [501, "", "ServiceError", "service_failed", "the service answered 501"],
    [408, "", "ServiceError", "service_failed", "the service answered 408"],
    [
      429,
      '{"message":"slow down"}',
      "RateLimitedError",
      "rate_limited",
      'the service is rate limiting (429 "slow down")',
    ],
  ])("when it says %i %s", async (status, body, name, code, message) => {
    const { client, server } = await withServer([answer(status, body)], once);
    const error = await failureOf(client.getMetrics({}));
    expect(error).toMatchObject({ name, code, status, message: `${message}: GET ${server.baseUrl}/v1/metrics.json` });
  });

  it("when the error is JSON, then it is kept whole, and the key that it repeats is not", async () => {
    const { client } = await withServer([json({ errors: { key: [API_KEY] } }, {}, 422)], once);
    expect(await failureOf(client.getMetrics({}))).toMatchObject({ details: { errors: { key: ["[key removed]"] } } });
  });

  it("when an error's body never ends, then enough of it is read", async () => {
    const { client } = await withServer([endless], once);
    expect((await failureOf(client.getMetrics({}))).message).toMatch(/^the service answered 500 "x{10,}…": GET/);
  });
});

function redirectTo(status: number, location: string): Behaviour {
  return (socket, request) =>
    answer(status, "", { location: location.replace("PORT", String(socket.localPort)) })(socket, request);
}

describe("redirects", () => {
  it.each([
    ["https://elsewhere.example.com/v1/metrics.json?token=1", "https://elsewhere.example.com/v1/metrics.json"],
    ["//127.0.0.1:9/v1/metrics.json", "http://127.0.0.1:9/v1/metrics.json"],
    ["https://127.0.0.1:PORT/v1/metrics.json", "https://127.0.0.1:PORT/v1/metrics.json"],
    ["http://user:pass@127.0.0.1:PORT/v1/metrics.json", "http://127.0.0.1:PORT/v1/metrics.json"],
    ["javascript:alert(1)", "javascript:alert(1)"],
  ])("when the target is %s, then it is named and not followed", async (location, named) => {
    const { client, server } = await withServer([redirectTo(302, location)]);
    const error = await failureOf(client.getMetrics({}));
    expect(error).toMatchObject({ name: "RedirectError", code: "redirect_refused", status: 302 });
    expect(error.message).toMatch(
      `refused to follow a redirect (302) to ${named.replace("PORT", String(server.port))}`,
    );
    expect(server.requests).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308])(
    "when a read is sent on within the service with %i, then it goes there with the key",
    async (status) => {
      const script = [
        redirectTo(status, "/v2/metrics.json?a=1#top"),
        redirectTo(status, "http://127.0.0.1:PORT/v3"),
        json({ nps: 7 }),
      ];
      const { client, server, seen } = await withServer(script);
      expect((await client.getMetrics({})).json).toEqual({ nps: 7 });
      expect(seen()).toEqual(["GET /v1/metrics.json", "GET /v2/metrics.json?a=1", "GET /v3"]);
      expect(new Set(server.requests.map(({ headers }) => headers["authorization"])).size).toBe(1);
    },
  );

  it.each([
    ["to itself", () => "/v1/metrics.json", 1],
    ["in a circle", (number: number) => `/${number % 3}`, 4],
    ["for ever", (number: number) => `/${number}`, 11],
  ])("when redirects lead %s, then they end with an error", async (_, location, requests) => {
    const { client, server } = await withServer((request) => redirectTo(302, location(request.number)));
    const error = await failureOf(client.getMetrics({}));
    expect(error).toMatchObject({ name: "RedirectError", code: "redirect_refused", status: 302 });
    expect(error.message).toMatch("the redirects (302) do not end: GET ");
    expect(server.requests).toHaveLength(requests);
  });

  it.each([301, 307, 308])("when a write is sent on with %i, then it is not followed", async (status) => {
    const { client, seen } = await withServer([redirectTo(status, "/v2/people.json")]);
    const error = await failureOf(client.sendPerson({ email: "a@example.com" }));
    expect([error.name, seen()]).toEqual(["RedirectError", ["POST /v1/people.json"]]);
  });

  it("when a read is sent on and the place there fails for a while, then it is tried again there", async () => {
    const { client, seen } = await withServer([redirectTo(302, "/v2"), answer(503, ""), json({ nps: 7 })]);
    expect((await client.getMetrics({})).json).toEqual({ nps: 7 });
    expect(seen()).toEqual(["GET /v1/metrics.json", "GET /v2", "GET /v2"]);
  });
});

describe("one response", () => {
  it("when it is asked for by its id, then it comes with what is to be embedded", async () => {
    const pair = await withServer([json({ id: "4/2", score: 9 })]);
    const reply = await pair.client.getResponse("4/2", { expand: ["person", "notes"] });
    expect(reply.json).toEqual({ id: "4/2", score: 9 });
    expect(pair.seen()).toEqual(["GET /v1/survey_responses/4%2F2.json?expand[]=person&expand[]=notes"]);
  });

  it("when the service knows no such response or no such endpoint, then it is refused with 404", async () => {
    const pair = await withServer([answer(404, "")]);
    expect(await failureOf(pair.client.getResponse("9", {}))).toMatchObject({ name: "RefusedError", status: 404 });
  });
});
