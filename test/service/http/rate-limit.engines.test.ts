import { expect, it } from "vitest";
import { addKey } from "../../../src/service/domain/projects/projects.ts";
import { KEY, openHttp, ORIGIN } from "./fixture.ts";

it("when a key's bucket is full, then 429 says when it has drained, and other keys go on", async () => {
  const http = await openHttp({ rateLimit: { requests: 3, periodSeconds: 60 } });
  const statuses = async (count: number): Promise<number[]> => {
    const seen: number[] = [];
    for (let index = 0; index < count; index += 1) seen.push((await http.call("GET", "/v1/people")).status);
    return seen;
  };
  expect(await statuses(4)).toEqual([200, 200, 200, 429]);
  const refused = await http.call("GET", "/v1/people");
  expect(refused).toMatchObject({
    json: { status: 429, message: "Too Many Requests" },
    headers: { "retry-after": "20" },
  });
  await http.write((tx) => addKey(tx, http.project, "another-key"));
  const other = { headers: { authorization: `Basic ${btoa("another-key:")}` } };
  expect((await http.call("GET", "/v1/people", other)).status).toBe(200);
  http.time.now += 19;
  expect((await http.call("GET", "/v1/people")).headers["retry-after"]).toBe("1");
  http.time.now += 1;
  expect(await statuses(2)).toEqual([200, 429]);
  http.time.now += 3600;
  expect(await statuses(4)).toEqual([200, 200, 200, 429]);
  await http.store.close();
});

it("when a limit is fast, then Retry-After is still a whole second", async () => {
  const http = await openHttp({ rateLimit: { requests: 1, periodSeconds: 1 } });
  await http.get("/v1/people");
  expect((await http.call("GET", "/v1/people")).headers["retry-after"]).toBe("1");
  await http.store.close();
});

it("when a key is revoked, then it opens nothing after two seconds", async () => {
  const http = await openHttp();
  await http.get("/v1/people");
  await http.write((tx) => tx.projects.revokeKey(http.project.id, 1));
  http.time.now += 2;
  expect((await http.call("GET", "/v1/people")).status).toBe(401);
  await http.store.close();
});

const basic = (key: string): string => `Basic ${btoa(`${key}:`)}`;

it("when an address tries wrong keys, then it is told to wait, and others and long keys go on", async () => {
  const http = await openHttp();
  const right = "a-key-that-nobody-guesses";
  await http.write((tx) => addKey(tx, http.project, right));
  const ask = async (key: string, from = "10.0.0.1"): Promise<number> => {
    const headers = { authorization: basic(key) };
    return (await http.service.handle({ method: "GET", url: `${ORIGIN}/v1/people`, headers, from })).status;
  };
  const statuses: number[] = [];
  for (let count = 0; count < 100; count += 1) statuses.push(await ask(`wrong-${count}`));
  expect([statuses.indexOf(429), new Set(statuses.slice(60))]).toEqual([60, new Set([429])]);
  expect([await ask("wrong", "10.0.0.2"), await ask(right), await ask("another-long-key-that-is-wrong")]).toEqual([
    401, 200, 429,
  ]);
  // Even the correct key is refused, or a key shorter than 20 characters could be brute-forced.
  expect([await ask(KEY), await ask(KEY, "10.0.0.2")]).toEqual([429, 200]);
  http.time.now += 1;
  expect([await ask(KEY), await ask("wrong"), await ask("wrong")]).toEqual([200, 401, 429]);
  expect([await ask("wrong", "2001:db8::1"), await ask("wrong", "::ffff:10.0.0.1")]).toEqual([401, 429]);
  await http.store.close();
});

it("when there is a limit, then requests without a key count too", async () => {
  const http = await openHttp({ rateLimit: { requests: 2, periodSeconds: 60 } });
  const ask = async (): Promise<number> =>
    (await http.call("GET", "/v1/people", { headers: { authorization: "" } })).status;
  expect([await ask(), await ask(), await ask()]).toEqual([401, 401, 429]);
  await http.store.close();
});

it("when wrong keys come from all over one network, then they are of one caller", async () => {
  const http = await openHttp();
  const statuses: number[] = [];
  for (let at = 0; at < 61; at += 1) {
    const authorization = `Basic ${btoa(`guess-${at}:`)}`;
    const from = `2001:db8::${at.toString(16)}`;
    const request = { method: "GET", url: `${ORIGIN}/v1/people.json`, headers: { authorization }, from };
    statuses.push((await http.service.handle(request)).status);
  }
  expect(statuses).toEqual([...Array.from({ length: 60 }, () => 401), 429]);
  await http.store.close();
});
