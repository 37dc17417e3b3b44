import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { openEmbeddedService } from "../helpers/embedded-service.ts";
import { countTrips } from "../helpers/round-trips.ts";
import { openHttp, type HttpFixture } from "./http/fixture.ts";
const statements = { count: 0 };
test("counts", async () => {
  const fixture = await openHttp({ onStatement: () => (statements.count += 1) });
  let n = 0;
  const email = () => `p${(n += 1)}@example.com`;
  for (let i = 0; i < 60; i += 1) {
    const person = await fixture.post("/v1/people.json", { email: email(), send: false });
    await fixture.post("/v1/survey_responses.json", { person: person.id, score: i % 11, created_at: fixture.time.now - i * 40_000 });
  }
  const person = await fixture.post("/v1/people.json", { email: email(), send: false });
  const kinds: [string, () => Promise<unknown>][] = [
    ["person", () => fixture.get("/v1/people.json?email=p3@example.com")],
    ["page", () => fixture.get("/v1/survey_responses.json?page=2")],
    ["metrics", () => fixture.get(`/v1/metrics.json?since=${fixture.time.now - 1_000_000}&until=${fixture.time.now - 300_000}`)],
    ["post", () => fixture.post("/v1/people.json", { email: email(), send: false })],
    ["post with a survey", () => fixture.post("/v1/people.json", { email: email(), delay: 86400 })],
    ["update", () => fixture.post("/v1/people.json", { email: "p3@example.com", name: "x", send: false })],
    ["response", () => fixture.post("/v1/survey_responses.json", { person: person.id, score: 3 })],
    ["response upd", () => fixture.call("PUT", "/v1/survey_responses/3.json", { body: { score: 4 } })],
  ];
  for (const [name, work] of kinds) {
    await work();
    if (process.env.SHOW) console.log("== " + name);
    statements.count = 0;
    const trips = await countTrips(work);
    console.log(name, statements.count, trips);
  }
  await fixture.store.close();
});
const asked = async (service: any) => { const a = await service.handle({ method: "GET", url: "http://embedded.test/metrics", headers: {} }); const t = typeof a.body === "string" ? a.body : await new Response(a.body).text(); return Number(/store_statements_total (\d+)/.exec(t)![1]); };
test("leaves", async () => {
  const clock = createFakeClock();
  const { service, client, close } = await openEmbeddedService({ clock });
  for (let i = 0; i < 3; i += 1) {
    await asked(service);
    const b = await asked(service);
    if (process.env.SHOW) console.log("== leaves " + i);
      await client.sendPerson({ email: `p${i}@example.com` });
      await service.finishDue();
    console.log("leaves", await asked(service) - b);
  }
  await close();
});
test("idle", async () => {
  const clock = createFakeClock();
  const { service, close } = await openEmbeddedService({ clock });
  service.start();
  const tick = async (ms: number) => { const until = clock.now() + ms; while (clock.now() < until) await new Promise((r) => setImmediate(r)); };
  await tick(60_000);
  await asked(service);
  const b = await asked(service);
    if (process.env.SHOW) console.log("== idle");
  const began = clock.now();
  await tick(60_000);
  const seconds = (clock.now() - began) / 1000;
  console.log("idle", (await asked(service) - b) / seconds, seconds);
  await close();
});
