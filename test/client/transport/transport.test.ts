import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Exchange } from "../../../src/contract/http.ts";
import { createClient } from "../../../src/client/create-client.ts";
import { connectionFailure } from "../../../src/client/transport/connection-failure.ts";
import { ConnectionError, TimeoutError } from "../../../src/client/errors/call-errors.ts";
import { undiciTransport } from "../../../src/client/transport/undici-transport.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import {
  answer,
  hangUp,
  json,
  listening,
  raw,
  reset,
  stall,
  type Behaviour,
} from "../../helpers/misbehaving-server.ts";
import { proxiedUrl, startProxy, type ProxyServer } from "../../helpers/proxy-server.ts";
import { API_KEY, failureOf, withServer } from "../with-server.ts";

const once = { client: { policy: { retries: 0 } } };

async function proxy(credentials?: string): Promise<ProxyServer> {
  const server = await startProxy(credentials);
  onTestFinished(async () => await server.stop());
  return server;
}

const trickle: Behaviour = (socket) => {
  socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n[");
  const drip = setInterval(() => socket.write(" "), 20);
  socket.once("close", () => clearInterval(drip));
};

describe("a request on the wire", () => {
  it("when a call is made, then it carries the key, names the program and asks for JSON", async () => {
    const { client, server } = await withServer([json({ nps: 1 })]);
    await client.getMetrics({ since: 5, groups: ["core", "email"] });
    expect(server.requests).toEqual([
      {
        method: "GET",
        target: "/v1/metrics.json?since=5&groups[]=core&groups[]=email",
        headers: {
          host: `127.0.0.1:${server.port}`,
          connection: "keep-alive",
          accept: "application/json",
          authorization: `Basic ${Buffer.from(`${API_KEY}:`).toString("base64")}`,
          "user-agent": "surveyctl/0.0.0-source",
        },
        body: "",
        number: 1,
      },
    ]);
  });

  it("when an identifier is removed, then the DELETE carries a JSON body", async () => {
    const { client, server } = await withServer([json({ person: {} }, {}, 202)], { basePath: "/some/base/" });
    const result = await client.removeMember("sms", { person_phone_number: "+15555550100" });
    expect(result.kind).toBe("answered");
    expect(server.requests[0]).toMatchObject({
      method: "DELETE",
      target: "/some/base/v1/autopilot/sms/memberships.json",
      body: '{"person_phone_number":"+15555550100"}',
      headers: { "content-type": "application/json" },
    });
  });

  it("when calls follow one another, then they share a connection", async () => {
    let connections = 0;
    const count = (number: number): boolean => {
      connections = number;
      return false;
    };
    const { client } = await withServer([json({})], {
      server: { resetConnection: count },
      transport: { connections: 1 },
    });
    for (let calls = 0; calls < 5; calls += 1) await client.getMetrics({});
    expect(connections).toBe(1);
  });

  it("when one signal stands for many requests, then no warning is printed", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warn);
    const { client } = await withServer([json({})]);
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 30 }, async () => await client.getMetrics({}, { signal })));
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", warn);
    expect(warnings).toEqual([]);
  });
});

describe("connections that fail", () => {
  it("when nobody listens, then the request was not sent and even a write is repeated", async () => {
    const closed = createServer();
    const port = await listening(closed);
    await new Promise((resolve) => closed.close(resolve));
    const { client, clock } = await withServer([], {
      client: { baseUrl: `http://127.0.0.1:${port}` },
      transport: { baseUrl: `http://127.0.0.1:${port}` },
    });
    const error = await failureOf(client.sendPerson({ email: "ann@example.com" }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      sent: "no",
      message: `127.0.0.1:${port} refused the connection: POST http://127.0.0.1:${port}/v1/people.json`,
    });
    expect(clock.sleeps).toEqual([200, 400, 800, 1600, 3200]);
  });

  it("when the host cannot be resolved, then it is named, and tried twice", async () => {
    const baseUrl = "https://nowhere.invalid";
    const { client, clock } = await withServer([], { client: { baseUrl }, transport: { baseUrl } });
    const error = await failureOf(client.getMetrics({}));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toMatch(
      /^cannot resolve host nowhere\.invalid(?: at the moment)?: GET https:\/\/nowhere\.invalid\/v1\/metrics\.json$/,
    );
    expect(clock.sleeps).toEqual([200]);
  });

  it("when a body trickles, then it ends soon after the time for an answer", async () => {
    const { client } = await withServer([trickle], { ...once, transport: { timeoutMs: 300 } });
    const began = Date.now();
    const error = await failureOf(client.getMetrics({}));
    expect(error).toMatchObject({ name: "BadReplyError", cutShort: true });
    expect(error.message).toMatch(/^nothing more of the answer came in time after \d+ bytes/);
    expect(Date.now() - began).toBeLessThan(3000);
  });

  it("when a body is slow and faster than 1 KB/s, then it is read to its end", async () => {
    const body = JSON.stringify({ text: "x".repeat(4000) });
    const slowly: Behaviour = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`);
      let at = 0;
      const pour = setInterval(() => {
        socket.write(body.slice(at, at + 200));
        at += 200;
        if (at >= body.length) clearInterval(pour);
      }, 30);
    };
    const { client } = await withServer([slowly], { ...once, transport: { timeoutMs: 200 } });
    expect((await client.getMetrics({})).text).toBe(body);
  });

  it("when the connection is reset before anything is read, then a read is repeated", async () => {
    const { client, seen } = await withServer([json({ nps: 1 })], {
      server: { resetConnection: (number) => number < 3 },
    });
    expect((await client.getMetrics({})).json).toEqual({ nps: 1 });
    expect(seen()).toEqual(["GET /v1/metrics.json"]);
  });

  it.each([
    ["resets", reset],
    ["hangs up", hangUp],
  ])("when the service reads and %s, then the request may have arrived", async (_, behaviour) => {
    const { client, server } = await withServer([behaviour], once);
    const error = await failureOf(client.getMetrics({}));
    expect(error).toMatchObject({ name: "ConnectionError", sent: "maybe" });
    expect(error.message).toContain(`the connection to 127.0.0.1:${server.port} broke before the answer was complete`);
  });

  it("when no answer comes, then the time ends it", async () => {
    const { client } = await withServer([stall], { ...once, transport: { timeoutMs: 40 } });
    const error = await failureOf(client.getMetrics({}));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ sent: "maybe" });
    expect(error.message).toMatch(/^no answer from 127\.0\.0\.1:\d+ within 0\.04 s: GET /);
  });

  it("when a body stops in the middle, then the time ends it", async () => {
    const half = raw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[", { keepOpen: true });
    const { client } = await withServer([half], { ...once, transport: { timeoutMs: 40 } });
    const error = await failureOf(client.getMetrics({}));
    expect(error.message).toMatch(/^nothing more of the answer came in time after 1 byte \(status 200/);
    expect(error).toMatchObject({ name: "BadReplyError", cause: { name: "TimeoutError", sent: "maybe" } });
  });

  it("when the headers are larger than can be taken, then that is said", async () => {
    const { client } = await withServer([answer(200, "{}", { "x-large": "x".repeat(20_000) })], once);
    expect((await failureOf(client.getMetrics({}))).message).toMatch(
      /^127\.0\.0\.1:\d+ answered with larger headers than can be taken: GET /,
    );
  });

  it("when more time is asked for than is allowed, then the error says how much", async () => {
    const { client } = await withServer([answer(503, "", { "retry-after": "400" })]);
    expect(await failureOf(client.getMetrics({}))).toMatchObject({
      name: "ServiceError",
      retryAfterMs: 400_000,
    });
  });

  it("when what answers is not HTTP, then it is said", async () => {
    const { client } = await withServer([raw("220 mail.example.com ESMTP\r\n")], once);
    expect((await failureOf(client.getMetrics({}))).message).toMatch(
      /answered something that is not HTTP \(Response does not match the HTTP\/1\.1 protocol/,
    );
  });

  it("when the signal is aborted, then its reason ends the call at once, wherever it stands", async () => {
    const { client } = await withServer([stall]);
    const control = new AbortController();
    const call = failureOf(client.getMetrics({}, { signal: control.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    const reason = new Error("interrupted");
    control.abort(reason);
    expect(await call).toBe(reason);
    expect(await failureOf(client.getMetrics({}, { signal: control.signal }))).toBe(reason);
  });

  it("when the signal is aborted in the middle of a body, then its reason ends the call", async () => {
    const control = new AbortController();
    const half = raw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[", { keepOpen: true });
    const { client } = await withServer(() => (socket, request) => {
      void half(socket, request);
      setTimeout(() => control.abort(new Error("interrupted")), 20);
    });
    expect((await failureOf(client.getMetrics({}, { signal: control.signal }))).message).toBe("interrupted");
  });

  it("when the client is closed while a request runs, then nothing hangs", async () => {
    const { client } = await withServer([stall], once);
    const call = failureOf(client.getMetrics({}));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await client.close();
    expect(await call).toBeInstanceOf(ConnectionError);
  });
});

describe("a certificate", () => {
  const context = {
    call: { method: "GET", url: "https://h/x" },
    host: "h",
    proxy: null,
    sent: "no",
    timeoutMs: 1,
    mayBeAbsent: false,
  } as const;
  const authorities = "NODE_EXTRA_CA_CERTS names a file with further authorities";

  it.each([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "it is self-signed", authorities],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "its authority is unknown", authorities],
    ["CERT_HAS_EXPIRED", "it has expired", null],
    ["CERT_NOT_YET_VALID", "it is not valid yet", null],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "it is for another host", null],
  ])("when its problem is %s, then further authorities are named where they help", (code, why, hint) => {
    const { what, hint: given } = connectionFailure(Object.assign(new Error("no"), { code }), context);
    expect([what, given]).toEqual([`the certificate of h cannot be trusted (${why}, ${code})`, hint]);
  });
});

describe("TLS", () => {
  it("when the certificate is signed by nobody known, then it is named and nothing is repeated or sent", async () => {
    const { client, server, clock } = await withServer([json({})], { server: { tls: true } });
    const error = await failureOf(client.sendPerson({ email: "ann@example.com" }));
    expect(error).toMatchObject({
      name: "ConnectionError",
      sent: "no",
      hint: "NODE_EXTRA_CA_CERTS names a file with further authorities",
    });
    expect(error.message).toBe(
      `the certificate of localhost:${server.port} cannot be trusted (it is self-signed, DEPTH_ZERO_SELF_SIGNED_CERT): POST ${server.baseUrl}/v1/people.json`,
    );
    expect(clock.sleeps).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  it("when the service speaks plain HTTP, then the message says so", async () => {
    const plain = createHttpServer();
    const baseUrl = `https://127.0.0.1:${await listening(plain)}`;
    onTestFinished(() => void plain.close());
    const { client, clock } = await withServer([], { client: { baseUrl }, transport: { baseUrl } });
    const error = await failureOf(client.getMetrics({}));
    expect(error.message).toMatch(/^TLS handshake with 127\.0\.0\.1:\d+ failed; is it plain http\?: GET/);
    expect(error).toMatchObject({ sent: "no", hint: `try ${baseUrl.replace("https:", "http:")}` });
    expect(clock.sleeps).toEqual([]);
  });
});

describe("proxies", () => {
  it("when http goes through a proxy with credentials, then only the proxy sees them", async () => {
    const between = await proxy("user:p@ss");
    const env = { HTTP_PROXY: `http://user:p%40ss@${between.host}` };
    const { client, server } = await withServer([json({ nps: 7 })], { isProxied: true, transport: { env } });
    expect((await client.getMetrics({})).json).toEqual({ nps: 7 });
    expect(between.seen).toEqual([`GET ${proxiedUrl(server)}/v1/metrics.json`]);
    expect(server.requests[0]?.headers["host"]).toBe(`survey.example.com:${server.port}`);
  });

  it("when the proxy wants other credentials, then it is named, without its password, and nothing was sent", async () => {
    const between = await proxy("user:other");
    const env = { HTTP_PROXY: `http://user:hush@${between.host}` };
    const { client, server } = await withServer([json({})], { isProxied: true, transport: { env } });
    const error = await failureOf(client.sendPerson({ email: "ann@example.com" }));
    expect(error).toMatchObject({ name: "ConnectionError", sent: "no" });
    expect(error.message).toBe(
      `the proxy ${between.host} (HTTP_PROXY) wants other credentials (407): POST ${proxiedUrl(server)}/v1/people.json`,
    );
    expect(between.seen).toHaveLength(1);
  });

  it("when https goes through a proxy, then it is a tunnel whose end is checked like any other", async () => {
    const between = await proxy("user:secret");
    const env = { https_proxy: `http://user:secret@${between.host}` };
    const { client, server } = await withServer([json({})], {
      isProxied: true,
      server: { tls: true },
      transport: { env },
    });
    const error = await failureOf(client.getMetrics({}));
    expect(error.message).toContain(`the certificate of survey.example.com:${server.port} cannot be trusted`);
    expect(error.message).toContain(`through the proxy ${between.host}`);
    expect(between.seen).toEqual([`CONNECT survey.example.com:${server.port}`]);
    expect(between.headers[0]).not.toHaveProperty("authorization");
  });

  it("when the tunnel is refused, then the proxy is named", async () => {
    const between = await proxy("user:secret");
    const { client } = await withServer([json({})], {
      isProxied: true,
      server: { tls: true },
      transport: { env: { HTTPS_PROXY: `http://${between.host}` } },
    });
    const error = await failureOf(client.getMetrics({}));
    expect(error.message).toContain(`the proxy ${between.host} (HTTPS_PROXY) wants other credentials (407)`);
  });

  it.each([true, false])("when the proxy cannot be reached, then the proxy is named (tls: %s)", async (tls) => {
    const env = { HTTPS_PROXY: "http://127.0.0.1:1", HTTP_PROXY: "http://127.0.0.1:1" };
    const { client } = await withServer([json({})], { ...once, isProxied: true, server: { tls }, transport: { env } });
    const error = await failureOf(client.getMetrics({}));
    expect(error).toMatchObject({ name: "ConnectionError", sent: "no", repeatsMax: Infinity });
    expect(error.message).toMatch(/^cannot reach the proxy 127\.0\.0\.1:1 \(HTTPS?_PROXY\): connect ECONNREFUSED/);
  });

  it("when the variable is no proxy, then it is named", async () => {
    const { client } = await withServer([json({})], {
      isProxied: true,
      transport: { env: { HTTP_PROXY: "ftp://x" } },
    });
    expect((await failureOf(client.getMetrics({}))).message).toMatch(/^HTTP_PROXY names a ftp proxy/);
  });
});

const constant: Exchange = async () => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: '{"nps":9}',
});

describe("without a socket", () => {
  it("when the service is a function, then the client calls that", async () => {
    const client = createClient({ baseUrl: "http://local", apiKey: "k", transport: constant, clock: systemClock });
    expect((await client.getMetrics({})).json).toEqual({ nps: 9 });
    await client.close();
  });

  it("the proxy of the environment never sees a request to this machine", async () => {
    const { client } = await withServer([answer(200, '{"nps":2}')], {
      transport: { env: { HTTP_PROXY: "http://127.0.0.1:1" } },
    });
    expect((await client.getMetrics({})).json).toEqual({ nps: 2 });
  });

  it("when a transport of one's own is used twice after closing, then it opens again", async () => {
    const { server } = await withServer([json({})]);
    const transport = undiciTransport({ baseUrl: server.baseUrl, env: {} });
    const request = { method: "GET", url: `${server.baseUrl}/x`, headers: {} };
    expect((await transport(request)).status).toBe(200);
    await transport.close();
    expect((await transport(request)).status).toBe(200);
    await transport.close();
  });
});
