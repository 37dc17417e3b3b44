/** Pages of a project whose writes are blocked by another process's lock. */
import { once } from "node:events";
import { expect, test } from "vitest";
import { systemRandom } from "../../../src/runtime/random.ts";
import type { Store } from "../../../src/service/domain/ports.ts";
import { finishDelivery } from "../../../src/service/domain/delivery/deliveries.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { Pages } from "../../../src/service/page/pages.ts";
import { claimAll, openFixture, sendInput, START } from "../domain/fixture.ts";

const ROOM = 500;

test("when looks at pages cannot be noted, then pages are shown, few wait, and the rest is left out", async () => {
  const fixture = await openFixture();
  const { store } = fixture;
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "ada@x.co" })));
  const [due] = await fixture.write(claimAll);
  await fixture.write((tx) => finishDelivery(tx, due!, { kind: "sent" }));
  fixture.time.now = START + 3600;
  const lock = new AbortController();
  const unlocked = once(lock.signal, "abort");
  const waiting: Promise<unknown>[] = [];
  const write: Store["write"] = (work, how) => {
    const written = unlocked.then(() => store.write(work, how));
    waiting.push(written);
    return written;
  };
  const none = { count: () => 0 };
  const pages = new Pages({
    store: { ...store, write },
    clock: { now: () => fixture.time.now * 1000, monotonic: () => waiting.length * 60_000, sleep: neverSleep },
    random: systemRandom,
    publicUrl: null,
    answerWindowSeconds: 86_400,
    senderName: null,
    unknownLinks: none,
    addressAnswers: none,
    linkAnswers: none,
    linkChanges: none,
    scriptChanges: none,
    findProject: () => Promise.resolve(null),
    onError: () => undefined,
  });
  const open = async (): Promise<{ status: number; hasScript: boolean }> => {
    const shown = await pages.handle({
      method: "GET",
      path: `/s/${due?.token}`,
      query: "score=9",
      origin: "http://survey.test",
      headers: {},
      body: () => Promise.resolve(new Uint8Array()),
      from: "192.0.2.1",
    });
    const { status = 0, body = "" } = shown ?? {};
    return { status, hasScript: typeof body === "string" && body.includes("<script") };
  };
  for (let at = 0; at < ROOM; at += 1) expect(await open()).toEqual({ status: 200, hasScript: true });
  for (let at = 0; at < 20; at += 1) expect(await open()).toEqual({ status: 200, hasScript: false });
  expect(waiting).toHaveLength(ROOM);

  lock.abort();
  await Promise.all(waiting);
  expect(await open()).toEqual({ status: 200, hasScript: true });
  await Promise.all(waiting);
  const looked = await fixture.read((tx) => tx.requests.byToken(due!.token));
  expect(looked?.pageFacts.gets).toBe(ROOM + 1);
  await store.close();
});

function neverSleep(): Promise<never> {
  throw new Error("nothing sleeps");
}
