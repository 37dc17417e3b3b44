import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { size } from "../../../helpers/long.ts";
import { administer, type Cluster, hasPostgres, startCluster } from "../../../helpers/postgres.ts";
import { ask, databasePlace, type Member, startFleet } from "../fleet.ts";
import { newName, openBehindProxy } from "./behind-proxy.ts";

const CUTS = size(10, 200);
const RECOVERY_MS = 5000;
/** Clients time out after 30 s. A write waits for a connection and then up to 12 s for a reply. */
const REFUSED_MS = 25_000;

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).toReversed()) await stop();
});

const state: { cluster?: Cluster } = {};
const cluster = (): Cluster => state.cluster!;

describe.skipIf(!hasPostgres)("a service and its database", () => {
  beforeAll(() => {
    state.cluster = startCluster({ isDurable: true, port: 5437 });
  });
  afterAll(() => cluster().stop());

  it(`when the answer to COMMIT is cut off ${CUTS} times, then each request is answered as done, and was done once`, async () => {
    const { service, proxy, save, close } = await openBehindProxy(cluster());
    open.push(close);
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

  it("when it has no connection left, then requests are refused with Retry-After, the log says so, and it passes", async () => {
    const name = await newName(cluster());
    await administer(cluster(), `CREATE ROLE app LOGIN; ALTER DATABASE ${name} OWNER TO app`);
    const url = cluster().url(name).replace("user=postgres", "user=app");
    const fleet = await startFleet(databasePlace(url), { count: 1 });
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
    const fleet = await startFleet(databasePlace(`${cluster().url(name)}&max=2`), { count: 1 });
    open.push(fleet.stop);
    const [member] = fleet.members as [Member];
    const save = (email: string) => ask(member.url, "POST", "/v1/people.json", { email, send: false });
    expect((await save("a@x.co")).status).toBe(201);
    const { promise: held, end } = await holdData(cluster(), name);
    open.push(() => (end(), held));
    const since = performance.now();
    const list = () => ask(member.url, "GET", "/v1/people.json");
    const asked = Promise.all([save("b@x.co"), list(), list(), list()]);
    const taken = { active: 2, idle: 0, waiting: expect.toSatisfy((n) => n >= 2) as number };
    await expect.poll(() => connections(member)).toEqual(taken);
    const refused = await asked;
    expect(performance.now() - since).toBeLessThan(REFUSED_MS);
    expect(new Set(refused.map(({ status, headers }) => `${status} ${Number(headers["retry-after"]) > 0}`))).toEqual(
      new Set(["503 true"]),
    );
    end();
    await held;
    await expect.poll(async () => (await save("c@x.co")).status, { timeout: RECOVERY_MS }).toBe(201);
    // Polls because the service can be waiting for a connection at this moment.
    await expect.poll(() => connections(member)).toMatchObject({ waiting: 0 });
    const { stderr } = (await member.signal("SIGTERM")) as { readonly stderr: string };
    expect(stderr).toContain("the database did not answer in time");
  });

  it("when the way to it swallows all that is sent, then requests are refused in time, and all goes on after it", async () => {
    const { service, proxy, save, list, close } = await openBehindProxy(cluster());
    open.push(close);
    expect((await save("a@x.co")).status).toBe(201);
    proxy.setSilent(true);
    const since = performance.now();
    const refused = await Promise.all([save("b@x.co"), list(), save("c@x.co")]);
    expect(performance.now() - since).toBeLessThan(REFUSED_MS);
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503]);
    proxy.setSilent(false);
    await expect.poll(async () => (await save("d@x.co")).status, { timeout: RECOVERY_MS }).toBe(201);
    await expect.poll(async () => (await list()).status, { timeout: RECOVERY_MS }).toBe(200);
    expect(await service.store.check()).toEqual([]);
  });
});

async function connections(member: Member): Promise<Record<string, number>> {
  const text = await (await fetch(`${member.url}/metrics`)).text();
  const found = text.matchAll(/^surveyctl_store_connections\{state="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...found].map(([, doing = "", count]) => [doing, Number(count)]));
}

/** Blocks all writes to a database and all reads of people until `end`. */
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
