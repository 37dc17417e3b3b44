import { request } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Listening } from "../../../src/service/http/server.ts";
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
  const head = [
    "POST /v1/people HTTP/1.1",
    "Host: x",
    ...AUTH,
    "Transfer-Encoding: chunked",
    "Connection: close",
    "",
    "",
  ].join("\r\n");
  const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
  const answer = parseRaw(await sendRaw(url(), [head, ...Array.from({ length: 40 }, () => chunk), "0\r\n\r\n"]));
  expect(answer.status).toBe(413);
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
  ["Host: evil.example/x?y", "http://127.0.0.1:"],
  ["Host: survey.example:81", "http://survey.example:81/"],
])("when the request says %s, then links begin with %s", async (host, prefix) => {
  for (const name of ["a", "b"]) await state.http?.post("/v1/people", { email: `${name}@x.co`, send: false });
  const text = ["GET /v1/people?per_page=1 HTTP/1.1", host, ...AUTH, "Connection: close", "", ""].join("\r\n");
  expect(parseRaw(await sendRaw(url(), text)).headers.link?.startsWith(`<${prefix}`)).toBe(true);
});

it("when HEAD is asked over a socket, then no body follows", async () => {
  const answer = parseRaw(await sendRaw(url(), rawRequest(url(), "HEAD /v1/people", AUTH)));
  expect([answer.status, answer.headers["content-length"], answer.text]).toEqual([200, "2", ""]);
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
