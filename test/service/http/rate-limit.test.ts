import { expect, it } from "vitest";
import { addKey } from "../../../src/service/domain/projects.ts";
import { openHttp } from "./fixture.ts";

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

it("when a key is revoked, then the very next request is refused", async () => {
  const http = await openHttp();
  await http.get("/v1/people");
  await http.write((tx) => tx.projects.deleteKey(http.project.id, 1));
  expect((await http.call("GET", "/v1/people")).status).toBe(200);
  http.service.keys.forget();
  expect((await http.call("GET", "/v1/people")).status).toBe(401);
  await http.store.close();
});
