/** A service whose PostgreSQL stops, moves, has no room or is cut off: what it acknowledged is kept, the rest is a 503. */
import { readdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "../../../src/runtime/log.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { ensureFirstKey } from "../../../src/service/first-project.ts";
import { openService, type Service } from "../../../src/service/index.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../helpers/database-proxy.ts";
import { isLong, size } from "../../helpers/long.ts";
import { administer, type Cluster, hasPostgres, startCluster, startStandby } from "../../helpers/postgres.ts";
import { ask, type Fleet, FLEET_KEY, type Member, startFleet } from "./fleet.ts";

const CUTS = size(10, 200);
const DOWN_SECONDS = isLong ? [30, 60] : [7];
const WRITERS = 8;
const RECOVERY_MS = 5000;
const TAKE_NUMBER = "SELECT pg_current_xact_id()";
const NEXT_NUMBER = "SELECT CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS next";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).toReversed()) await stop();
});

const state: { cluster?: Cluster; databases: number } = { databases: 0 };
const cluster = (): Cluster => state.cluster!;

async function newName(of: Cluster): Promise<string> {
  const name = `d${(state.databases += 1)}`;
  await administer(of, `CREATE DATABASE ${name}`);
  return name;
}

interface Traffic {
  readonly acknowledged: string[];
  readonly statuses: Map<number, number>;
  /** Of refusals that do not say when to come back. */
  readonly rude: unknown[];
  /** When the latest answer came that was not a refusal. */
  lastGoodMs: number;
  readonly end: () => Promise<void>;
}

/** Saves one person after the other, until it ends. */
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

/** Milliseconds until somebody is saved again. */
async function untilRecovered(traffic: Traffic): Promise<number> {
  const since = performance.now();
  while (traffic.lastGoodMs < since && performance.now() - since < 60_000) await sleep(20);
  return performance.now() - since;
}

/** Acknowledged and not there. */
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
    state.cluster = startCluster({ isDurable: true, port: 5434 });
  });
  afterAll(() => cluster().stop());

  it(`when the answer to COMMIT is cut off ${CUTS} times, then each request is answered as done, and was done once`, async () => {
    const { service, proxy, save } = await openBehindProxy();
    const statuses: number[] = [];
    for (let at = 0; at < CUTS; at += 1) {
      proxy.cutCommits(1);
      statuses.push((await save(`p${at}@x.co`)).status);
    }
    proxy.cutCommits(0);
    expect([new Set(statuses), proxy.cuts()]).toEqual([new Set([201]), CUTS]);
    expect(await service.store.read((tx) => tx.projects.counts(1))).toEqual({ people: CUTS, responses: 0 });
    expect(await service.store.check()).toEqual([]);
  });

  it.each([
    ["another", 1],
    ["nobody yet", 0],
  ])(
    "when it crashes before it has COMMIT, and gives the transaction's number to %s, then nobody is told that it was done",
    async (_, times) => {
      const { service, proxy, save } = await openBehindProxy();
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
      // Otherwise this shows nothing.
      expect(before).toBeLessThanOrEqual(Number(xid));
      while ((await next()) < Number(xid) + times) await administer(cluster(), TAKE_NUMBER);
      proxy.leadTo(cluster());
      const { status } = await saving;
      // Done again, or refused since that took too long.
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
      const fleet = await startFleet(cluster().url(await newName(cluster())), { count: 1 });
      open.push(fleet.stop);
      const [member] = fleet.members as [Member];
      const traffic = startTraffic(member);
      await expect.poll(() => traffic.acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(50);
      // Due while there is no database to ask.
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

  it("when it has no connection left, then requests are refused with Retry-After, the log says so, and it passes", async () => {
    const name = await newName(cluster());
    await administer(cluster(), `CREATE ROLE app LOGIN; ALTER DATABASE ${name} OWNER TO app`);
    const url = cluster().url(name).replace("user=postgres", "user=app");
    const fleet = await startFleet(url, { count: 1 });
    open.push(fleet.stop);
    const [member] = fleet.members as [Member];
    const list = () => ask(member.url, "GET", "/v1/people.json");
    expect((await list()).status).toBe(200);
    await administer(cluster(), "ALTER ROLE app CONNECTION LIMIT 0");
    await administer(cluster(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'");
    await expect.poll(async () => (await list()).status, { timeout: 10_000 }).toBe(503);
    const { status, headers } = await ask(member.url, "POST", "/v1/people.json", { email: "a@x.co", send: false });
    expect([status, Number(headers["retry-after"])]).toEqual([503, expect.any(Number)]);
    await administer(cluster(), "ALTER ROLE app CONNECTION LIMIT -1");
    await expect.poll(async () => (await list()).status, { timeout: RECOVERY_MS }).toBe(200);
    const { stderr } = (await member.signal("SIGTERM")) as { readonly stderr: string };
    expect(stderr).toContain("the database has no connection left");
  });

  it("when statements hang and connections are all taken, then requests are refused with Retry-After, gauge and log say so, and it passes", async () => {
    const name = await newName(cluster());
    const fleet = await startFleet(`${cluster().url(name)}&max=2`, { count: 1 });
    open.push(fleet.stop);
    const [member] = fleet.members as [Member];
    const save = (email: string) => ask(member.url, "POST", "/v1/people.json", { email, send: false });
    expect((await save("a@x.co")).status).toBe(201);
    const { promise: held, end } = await holdData(cluster(), name);
    const since = performance.now();
    const list = () => ask(member.url, "GET", "/v1/people.json");
    const asked = Promise.all([save("b@x.co"), list(), list(), list()]);
    await sleep(300);
    expect(await connections(member)).toEqual({ active: 2, idle: 0, waiting: expect.toSatisfy((n) => n >= 2) });
    const refused = await asked;
    expect(performance.now() - since).toBeLessThan(15_000);
    expect(new Set(refused.map(({ status, headers }) => `${status} ${Number(headers["retry-after"]) > 0}`))).toEqual(
      new Set(["503 true"]),
    );
    end();
    await held;
    await expect.poll(async () => (await save("c@x.co")).status, { timeout: RECOVERY_MS }).toBe(201);
    // The service itself may just be asking for one.
    await expect.poll(() => connections(member)).toMatchObject({ waiting: 0 });
    const { stderr } = (await member.signal("SIGTERM")) as { readonly stderr: string };
    expect(stderr).toContain("the database did not answer in time");
  });

  it("when the way to it swallows all that is sent, then requests are refused in time, and all goes on after it", async () => {
    const { service, proxy, save, list } = await openBehindProxy();
    expect((await save("a@x.co")).status).toBe(201);
    proxy.setSilent(true);
    const since = performance.now();
    const refused = await Promise.all([save("b@x.co"), list(), save("c@x.co")]);
    expect(performance.now() - since).toBeLessThan(18_000);
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503]);
    proxy.setSilent(false);
    await expect.poll(async () => (await save("d@x.co")).status, { timeout: RECOVERY_MS }).toBe(201);
    await expect.poll(async () => (await list()).status, { timeout: RECOVERY_MS }).toBe(200);
    expect(await service.store.check()).toEqual([]);
  });

  it("when it fails over to a standby that had everything, then nothing acknowledged is lost", async () => {
    const primary = startCluster({ isDurable: true, port: 5435 });
    const name = await newName(primary);
    const standby = await startStandby(primary);
    const proxy = await startDatabaseProxy(primary);
    const fleet = await startFleet(proxy.url(name), { count: 1 });
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
  });
});

/** A service of its own in this process. */
async function openBehindProxy(): Promise<{
  readonly service: Service;
  readonly proxy: DatabaseProxy;
  readonly save: (email: string) => Promise<{ readonly status: number }>;
  readonly list: () => Promise<{ readonly status: number }>;
}> {
  const name = await newName(cluster());
  const proxy = await startDatabaseProxy(cluster());
  const database = { url: proxy.url(name), mayMigrate: true };
  const world = { clock: systemClock, random: systemRandom, log: silentLog };
  const service = await openService({ ...world, dataFile: name, database, publicUrl: null, rateLimit: null });
  open.push(proxy.stop, () => service.close());
  await ensureFirstKey(service.store, systemRandom, FLEET_KEY);
  const headers = { authorization: `Basic ${btoa(`${FLEET_KEY}:`)}`, "content-type": "application/json" };
  const save = (email: string): Promise<{ readonly status: number }> => {
    const body = JSON.stringify({ email, send: false });
    return service.handle({ method: "POST", url: "http://x.test/v1/people.json", headers, body });
  };
  const list = (): Promise<{ readonly status: number }> =>
    service.handle({ method: "GET", url: "http://x.test/v1/people.json", headers, body: "" });
  return { service, proxy, save, list };
}

/** What the gauge of `/metrics` says, by state. */
async function connections(member: Member): Promise<Record<string, number>> {
  const text = await (await fetch(`${member.url}/metrics`)).text();
  const found = text.matchAll(/^surveyctl_store_connections\{state="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...found].map(([, doing = "", count]) => [doing, Number(count)]));
}

/** Keeps every write of a database, and every read of people, waiting until `end`. */
async function holdData(of: Cluster, name: string): Promise<{ promise: Promise<unknown>; end: () => void }> {
  const { Client } = await import("pg");
  const client = new Client({ connectionString: of.url(name) });
  await client.connect();
  await client.query("BEGIN");
  await client.query("SELECT * FROM project_state FOR UPDATE");
  await client.query("LOCK TABLE people");
  const { promise, resolve } = resolvable();
  return { promise: promise.then(() => client.query("ROLLBACK")).then(() => client.end()), end: resolve };
}

function resolvable(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  const made = { resolve: (): void => undefined };
  const promise = new Promise<void>((resolve) => {
    made.resolve = resolve;
  });
  return { promise, resolve: () => made.resolve() };
}
