import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { createKeyRing } from "../../../src/service/http/authentication.ts";
import { openFixture, type Fixture } from "../domain/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.store.close());

const unlimited = { check: () => undefined, count: () => undefined };
const limits = { wrongKeys: unlimited, refusals: unlimited };
const basic = (key: string): string => `Basic ${Buffer.from(`${key}:`).toString("base64")}`;

it("when commands come and go for years, then the keys that were not used for longest are forgotten", async () => {
  const keys = createKeyRing(fixture.store, systemClock, limits);
  keys.addSession("long", fixture.project);
  for (let count = 1; count < 10_000; count += 1) keys.addSession(`short-${count}`, fixture.project);
  await keys.identify(basic("long"), "");
  keys.addSession("last", fixture.project);
  await expect(keys.identify(basic("short-1"), "")).rejects.toThrow("Unauthorized");
  const known = await Promise.all(["long", "last"].map((key) => keys.identify(basic(key), "")));
  expect(known.map(({ project }) => project)).toEqual([fixture.project, fixture.project]);
});
