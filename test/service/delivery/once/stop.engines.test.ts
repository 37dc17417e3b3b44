import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { openEmbeddedService } from "../../../helpers/embedded-service.ts";
import { size } from "../../../helpers/long.ts";
import { startRawSmtp } from "../../../helpers/raw-smtp-stub.ts";
import { startPlanServer } from "../../../helpers/smtp-plan-server.ts";
import { createWarpedClock } from "../../../helpers/warped-clock.ts";
import { listAll, schedule } from "./mailing.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).toReversed()) await stop();
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-stop-"));
  open.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const addresses = (count: number): string[] => Array.from({ length: count }, (_, at) => `ok+${at}@example.org`);

it("when the rate is 20 a second and the service starts again in the middle, then no second has more", async () => {
  const [count, folder, server] = [size(40, 120), await newFolder(), await startPlanServer()];
  open.push(server.stop);
  const smtp = { port: server.port, rate: { count: 20, perSeconds: 1 } };
  const first = await openEmbeddedService({ folder, smtp });
  await schedule(first.service.store, addresses(count));
  first.service.start();
  await expect.poll(() => server.accepted.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(count / 2);
  await first.close();
  const second = await openEmbeddedService({ folder, smtp });
  open.push(() => second.close());
  second.service.start();
  await expect.poll(() => server.accepted.length, { timeout: 30_000 }).toBe(count);
  expect(new Set(server.accepted.map(({ to }) => to)).size).toBe(count);
  const times = server.accepted.map(({ at }) => at).toSorted((a, b) => a - b);
  const inSecond = times.map((from, at) => times.slice(at).filter((time) => time < from + 1000).length);
  // The server's timestamps can lag by a quarter of a second on a busy machine. A burst would add ten.
  expect(Math.max(...inSecond)).toBeLessThanOrEqual(25);
});

async function stopWith({ replies }: { readonly replies: boolean }): Promise<Record<string, number>> {
  const [folder, clock] = [await newFolder(), createWarpedClock()];
  const stub = await startRawSmtp(replies ? { replyDelayMs: 300 } : { afterDot: null });
  open.push(stub.stop);
  const before = await openEmbeddedService({ folder, clock, smtp: { port: stub.port } });
  await schedule(before.service.store, addresses(10));
  before.service.start();
  await expect.poll(() => stub.dots.length).toBe(4);
  const closed = before.close();
  const seconds = replies ? 0 : 41;
  for (let second = 0; second < seconds; second += 1) {
    await sleep(5);
    clock.advance(1000);
  }
  const began = performance.now();
  await closed;
  expect(performance.now() - began).toBeLessThan(8000);
  const dots = stub.dots.length;
  const after = await openEmbeddedService({ folder, clock });
  const rows = await after.service.store.read(listAll);
  await after.close();
  expect([dots, new Set(stub.dots).size]).toEqual([dots, dots]);
  const counts: Record<string, number> = { dots };
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

it("when the service is stopped while replies are slow, then it waits for them, and nothing is unknown", async () => {
  const { dots, ...states } = await stopWith({ replies: true });
  expect(states).toEqual({ sent: dots, ...(dots === 10 ? {} : { scheduled: 10 - (dots ?? 0) }) });
});

it("when replies do not come within 40 seconds of the stop, then those messages are unknown and the rest waits", async () => {
  expect(await stopWith({ replies: false })).toEqual({ dots: 4, unknown: 4, scheduled: 6 });
});

it("when the service is stopped, then surveys that have not begun are given back and only the others leave", async () => {
  const [folder, stub] = [await newFolder(), await startRawSmtp({ replyDelayMs: 300 })];
  open.push(stub.stop);
  const before = await openEmbeddedService({ folder, smtp: { port: stub.port } });
  await schedule(before.service.store, addresses(64));
  before.service.start();
  await expect.poll(() => stub.dots.length).toBe(4);
  await before.close();
  // A reply that came before the stop can have freed a connection for another message.
  expect(stub.dots.length).toBeLessThanOrEqual(8);
  const after = await openEmbeddedService({ folder, smtp: { port: stub.port } });
  open.push(() => after.close());
  const rows = await after.service.store.read(listAll);
  expect(rows.filter(({ state, attempts }) => state === "scheduled" && attempts === 0)).toHaveLength(
    64 - stub.dots.length,
  );
  after.service.start();
  await expect.poll(() => new Set(stub.dots).size, { timeout: 20_000 }).toBe(64);
  expect(stub.dots).toHaveLength(64);
});

it("when the service is stopped while it connects, then nothing waits for the server, and the next start tries at once", async () => {
  const [folder, stub] = [await newFolder(), await startRawSmtp({ replies: { EHLO: null } })];
  open.push(stub.stop);
  const before = await openEmbeddedService({ folder, smtp: { port: stub.port } });
  await schedule(before.service.store, addresses(3));
  before.service.start();
  await expect.poll(() => stub.lines.length).toBe(3);
  const began = performance.now();
  await before.close();
  expect(performance.now() - began).toBeLessThan(8000);
  const after = await openEmbeddedService({ folder });
  open.push(() => after.close());
  const rows = await after.service.store.read(listAll);
  expect(rows.map(({ state, attempts }) => [state, attempts])).toEqual(addresses(3).map(() => ["scheduled", 0]));
  const kept = await after.service.store.read((tx) => tx.senders.list());
  expect(kept.map(({ name, state }) => [name, state.state])).toEqual([["smtp", "ready"]]);
});
