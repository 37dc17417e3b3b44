import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { addKey, revokeKey } from "../../../src/service/domain/projects/projects.ts";
import { KeyRing } from "../../../src/service/http/authentication.ts";
import { openFixture, type Fixture } from "../domain/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.store.close());

const basic = (key: string): string => `Basic ${Buffer.from(`${key}:`).toString("base64")}`;

it("when a key was let in in several spellings, then none of them opens anything once it is revoked", async () => {
  const time = { ms: 0 };
  const keys = new KeyRing(fixture.store, { ...systemClock, monotonic: () => time.ms }, null);
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
  const keys = new KeyRing(fixture.store, { ...systemClock, monotonic: () => 0 }, null);
  await fixture.write((tx) => addKey(tx, fixture.project, "short"));
  const ask = async (key: string, address: string): Promise<string> =>
    keys.identify(basic(key), address).then(
      ({ project }) => project.name,
      (error: unknown) => (error as Error).message,
    );
  const before = await ask("short", "a");
  const guesses = new Set<string>();
  for (let count = 0; count < 60; count += 1) guesses.add(await ask(`guess-${count}`, "a"));
  expect([before, ...guesses, await ask("short", "a"), await ask("short", "b")]).toEqual([
    "default",
    "Unauthorized",
    "Too Many Requests",
    "default",
  ]);
});
