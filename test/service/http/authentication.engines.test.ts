import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { addKey, revokeKey } from "../../../src/service/domain/projects/projects.ts";
import { createKeyRing } from "../../../src/service/http/authentication.ts";
import { createRateLimiter } from "../../../src/service/http/rate-limit.ts";
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

it("when a key was let in in several spellings, then none of them opens anything once it is revoked", async () => {
  const time = { ms: 0 };
  const keys = createKeyRing(fixture.store, { ...systemClock, monotonic: () => time.ms }, limits);
  const secret = "a-key-that-nobody-guesses-0123456789";
  const { id } = await fixture.write((tx) => addKey(tx, fixture.project, secret));
  const spellings = [secret, `${secret}:`, `${secret}:password`, `${secret}:${"long".repeat(1000)}`].map(
    (text) => `basic  ${Buffer.from(text).toString("base64")}`,
  );
  const letIn = async (): Promise<unknown[]> =>
    Promise.all(
      spellings.map((one) =>
        keys.identify(one, "").then(
          ({ project }) => project,
          (error: unknown) => (error as Error).message,
        ),
      ),
    );
  const before = [await letIn(), await letIn()];
  await fixture.write((tx) => revokeKey(tx, fixture.project, String(id)));
  time.ms += 2_000;
  const opened = spellings.map(() => fixture.project);
  expect([...before, await letIn()]).toEqual([opened, opened, spellings.map(() => "Unauthorized")]);
});

it("when too many keys were guessed from an address, then a short key that was let in before waits there as well", async () => {
  const wrongKeys = createRateLimiter({ requests: 2, periodSeconds: 60 }, systemClock);
  const keys = createKeyRing(fixture.store, systemClock, { ...limits, wrongKeys });
  await fixture.write((tx) => addKey(tx, fixture.project, "short"));
  const ask = async (key: string, address: string): Promise<string> =>
    keys.identify(basic(key), address).then(
      ({ project }) => project.name,
      (error: unknown) => (error as Error).message,
    );
  const said = [await ask("short", "a"), await ask("guess-1", "a"), await ask("guess-2", "a")];
  expect([...said, await ask("short", "a"), await ask("short", "b")]).toEqual([
    "default",
    "Unauthorized",
    "Unauthorized",
    "Too Many Requests",
    "default",
  ]);
});
