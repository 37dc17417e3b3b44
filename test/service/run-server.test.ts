import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { runServer } from "../../src/service/run-server.ts";
import { openEmbeddedService } from "../helpers/embedded-service.ts";

it("when it drains, then the listener for metrics says that it is not ready until the last request is answered", async () => {
  const { service, folder } = await openEmbeddedService();
  const server = await runServer(service, {
    host: "127.0.0.1",
    port: 0,
    tls: null,
    metrics: { host: "127.0.0.1", port: 0 },
  });
  const ready = async (): Promise<number> => (await fetch(`${server.metricsUrl}/readyz`)).status;
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const key = Buffer.from("key-of-the-embedded-service:").toString("base64");
  const head = ["POST /v1/people HTTP/1.1", "Host: x", `Authorization: Basic ${key}`, "Content-Length: 20", "", ""];
  let answer = "";
  socket.setEncoding("utf8").on("data", (text: string) => (answer += text));
  const answered = new Promise((resolve) => socket.once("close", resolve));
  socket.write(`${head.join("\r\n")}{"email":`);
  await expect
    .poll(async () => (await (await fetch(`${server.metricsUrl}/metrics`)).text()).match(/in_flight (\d)/)?.[1])
    .toBe("2");
  expect(await ready()).toBe(200);
  const stopped = server.stop();
  expect(await ready()).toBe(503);
  socket.write('"ada@x.co"}');
  await Promise.all([stopped, answered]);
  expect(answer).toMatch(/^HTTP\/1\.1 201 /);
  await expect(ready()).rejects.toThrow("fetch failed");
  await rm(folder, { recursive: true });
});

it("when a mail is in hand while it drains, then pages answer until that has ended", async () => {
  const { service, folder } = await openEmbeddedService();
  const mail: { end: () => void } = { end: () => undefined };
  const ended = new Promise<void>((resolve) => (mail.end = resolve));
  const end = service.stop.bind(service);
  const stop = async (): Promise<void> => void (await Promise.all([ended, end()]));
  const options = { host: "127.0.0.1", port: 0, tls: null };
  const server = await runServer(Object.assign(service, { stop }), options);
  const stopped = server.stop();
  const page = await fetch(`${server.url}/s/preview`);
  expect([page.status, (await page.text()).includes("<form")]).toEqual([200, true]);
  mail.end();
  await stopped;
  await expect(fetch(`${server.url}/s/preview`)).rejects.toThrow("fetch failed");
  await rm(folder, { recursive: true });
});
