import { readdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startDatabaseProxy } from "../../../helpers/database-proxy.ts";
import { isLong } from "../../../helpers/long.ts";
import {
  administer,
  type Cluster,
  hasPostgres,
  hasProgram,
  startCluster,
  startStandby,
} from "../../../helpers/postgres.ts";
import { ask, databasePlace, type Fleet, type Member, startFleet } from "../fleet.ts";
import { newName, openBehindProxy } from "./behind-proxy.ts";

const DOWN_SECONDS = isLong ? [30, 60] : [7];
const WRITERS = 8;
const RECOVERY_MS = 5000;
/** Delays WAL flushes (200 ms by default), so that a crash loses an uncommitted transaction and its id is reused. */
const FORGETS = "-c wal_level=minimal -c max_wal_senders=0 -c wal_writer_delay=10s";
const TAKE_NUMBER = "SELECT pg_current_xact_id()";
const NEXT_NUMBER = "SELECT CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS next";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).toReversed()) await stop();
});

const state: { cluster?: Cluster } = {};
const cluster = (): Cluster => state.cluster!;

interface Traffic {
  readonly acknowledged: string[];
  readonly statuses: Map<number, number>;
  readonly rude: unknown[];
  lastGoodMs: number;
  readonly end: () => Promise<void>;
}

function startTraffic(member: Member): Traffic {
  const control = { isEnded: false, count: 0 };
  const traffic: Omit<Traffic, "end"> = { acknowledged: [], statuses: new Map(), rude: [], lastGoodMs: 0 };
  const writing = Array.from({ length: WRITERS }, async () => {
    while (!control.isEnded) {
      const email = `p${(control.count += 1)}@x.co`;
      const { status, headers, json } = await ask(member.url, "POST", "/v1/people.json", { email, send: false });
      traffic.statuses.set(status, (traffic.statuses.get(status) ?? 0) + 1);
      if (status < 300) {
        traffic.acknowledged.push(email);
        traffic.lastGoodMs = performance.now();
      } else {
        if (status !== 503 || !(Number(headers["retry-after"]) > 0)) traffic.rude.push([status, headers, json]);
        await sleep(50);
      }
    }
  });
  const end = async (): Promise<void> => {
    control.isEnded = true;
    await Promise.all(writing);
  };
  open.push(end);
  return Object.assign(traffic, { end });
}

async function untilRecovered(traffic: Traffic): Promise<number> {
  const since = performance.now();
  while (traffic.lastGoodMs < since && performance.now() - since < 60_000) await sleep(20);
  return performance.now() - since;
}

async function lost(fleet: Fleet, { acknowledged }: Traffic): Promise<string[]> {
  return fleet.withStore((store) =>
    store.read(async (tx) => {
      const missing: string[] = [];
      for (const email of acknowledged) if ((await tx.people.byEmail(1, email)) === null) missing.push(email);
      return missing;
    }),
  );
}

const pageStatus = async (member: Member, page: string): Promise<number> => (await fetch(member.url + page)).status;

describe.skipIf(!hasPostgres)("a service and its database", () => {
  beforeAll(() => {
    state.cluster = startCluster({ isDurable: true, port: 5434, settings: FORGETS });
  });
  afterAll(() => cluster().stop());

  it.each([
    ["another", 1],
    ["nobody yet", 0],
  ])(
    "when it crashes before it has COMMIT, and gives the transaction's number to %s, then nobody is told that it was done",
    async (_, times) => {
      const { service, proxy, save, close } = await openBehindProxy(cluster());
      open.push(close);
      await save("first@x.co");
      proxy.keepCommit();
      const saving = save("second@x.co");
      await expect.poll(proxy.cuts).toBe(1);
      const mine = await administer(
        cluster(),
        "SELECT backend_xid AS xid FROM pg_stat_activity WHERE backend_xid IS NOT NULL",
      );
      const { xid } = mine.rows[0] as { readonly xid: string };
      cluster().stop("immediate");
      proxy.leadTo({ folder: "/nowhere", port: 0 });
      cluster().start();
      const next = async (): Promise<number> => Number((await administer(cluster(), NEXT_NUMBER)).rows[0].next);
      const before = await next();
      // If the crash didn't lose the id, the test proves nothing.
      expect(before).toBeLessThanOrEqual(Number(xid));
      while ((await next()) < Number(xid) + times) await administer(cluster(), TAKE_NUMBER);
      proxy.leadTo(cluster());
      const { status } = await saving;
      // The write was either repeated or refused after a timeout.
      const people = new Map([
        [201, 2],
        [503, 1],
      ]).get(status);
      expect(await service.store.read((tx) => tx.projects.counts(1))).toEqual({ people, responses: 0 });
    },
  );

  it.each(DOWN_SECONDS)(
    "when it is down for %i s under load, then nothing acknowledged is lost, and all goes on by itself",
    async (seconds) => {
      const fleet = await startFleet(databasePlace(cluster().url(await newName(cluster()))), { count: 1 });
      open.push(fleet.stop);
      const [member] = fleet.members as [Member];
      const traffic = startTraffic(member);
      await expect.poll(() => traffic.acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(50);
      // This survey comes due while the database is down.
      await ask(member.url, "POST", "/v1/people.json", { email: "due@x.co", delay: 2 });
      cluster().stop("immediate");
      const downSince = performance.now();
      expect(await pageStatus(member, "/healthz")).toBe(200);
      await expect.poll(() => pageStatus(member, "/readyz"), { timeout: 6000, interval: 100 }).toBe(503);
      await sleep(Math.max(0, seconds * 1000 - (performance.now() - downSince)));
      expect([await pageStatus(member, "/healthz"), await pageStatus(member, "/readyz")]).toEqual([200, 503]);
      cluster().start();
      const recovery = await untilRecovered(traffic);
      await expect.poll(() => pageStatus(member, "/readyz"), { timeout: RECOVERY_MS, interval: 100 }).toBe(200);
      await traffic.end();
      if (process.env.SHOW_FIGURES === "1") console.log({ seconds, recovery, ...Object.fromEntries(traffic.statuses) });
      expect([new Set(traffic.statuses.keys()), traffic.rude]).toEqual([new Set([201, 503]), []]);
      expect(await lost(fleet, traffic)).toEqual([]);
      expect(recovery).toBeLessThan(RECOVERY_MS);
      const mailed = async () =>
        (await readdir(path.join(fleet.folder, "outbox"))).filter((name) => name.endsWith(".eml"));
      await expect.poll(mailed, { timeout: RECOVERY_MS }).toHaveLength(1);
      expect((await member.signal("SIGTERM")) as { readonly status: number }).toMatchObject({ status: 0 });
    },
  );

  it.skipIf(!hasProgram("pg_basebackup"))(
    "when it fails over to a standby that had everything, then nothing acknowledged is lost",
    async () => {
      const primary = startCluster({ isDurable: true, port: 5435 });
      const name = await newName(primary);
      const standby = await startStandby(primary);
      const proxy = await startDatabaseProxy(primary);
      const fleet = await startFleet(databasePlace(proxy.url(name)), { count: 1 });
      open.push(() => standby.stop(), proxy.stop, fleet.stop);
      const traffic = startTraffic(fleet.members[0]!);
      await expect.poll(() => traffic.acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(50);
      primary.stop("immediate");
      standby.promote();
      proxy.leadTo(standby);
      const recovery = await untilRecovered(traffic);
      await sleep(500);
      await traffic.end();
      if (process.env.SHOW_FIGURES === "1") console.log({ recovery, ...Object.fromEntries(traffic.statuses) });
      expect(traffic.rude).toEqual([]);
      expect(await lost(fleet, traffic)).toEqual([]);
      expect(recovery).toBeLessThan(RECOVERY_MS);
    },
  );
});
