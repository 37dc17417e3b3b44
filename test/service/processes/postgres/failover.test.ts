import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Store } from "../../../../src/service/domain/ports.ts";
import { startDatabaseProxy } from "../../../helpers/database-proxy.ts";
import { isLong } from "../../../helpers/long.ts";
import { administer, hasProgram, startCluster, startStandby } from "../../../helpers/postgres.ts";
import { ask, databasePlace, type Fleet, startFleet } from "../fleet.ts";
import { newName } from "./behind-proxy.ts";

const POSTS_A_SECOND = 200;
const BEFORE_MS = 10_000;
const DOWN_MS = 5_000;
const AFTER_MS = 15_000;
const FIRST_MS = 30_000;
/** Has to cover the claim's lease, the next poll and the rest of the queue. */
const DRAINED_MS = 600_000;

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).toReversed()) await stop();
});

interface Posts {
  /** Addresses by response status; 0 if there was no response. */
  readonly by: Map<number, string[]>;
  readonly goodMs: number[];
  readonly end: () => Promise<void>;
}

/** Posts at a fixed rate: real clients don't slow down because the database is down. */
function startPosting({ members }: Fleet): Posts {
  const posts = { by: new Map<number, string[]>(), goodMs: [] as number[] };
  const pending = new Set<Promise<void>>();
  const beganMs = performance.now();
  let count = 0;
  const post = async (): Promise<void> => {
    const email = `p${(count += 1)}@example.com`;
    const { url } = members[count % members.length]!;
    const { status } = await ask(url, "POST", "/v1/people.json", { email }).catch(() => ({ status: 0 }));
    posts.by.set(status, [...(posts.by.get(status) ?? []), email]);
    if (status === 201) posts.goodMs.push(performance.now());
  };
  const timer = setInterval(() => {
    const due = ((performance.now() - beganMs) / 1000) * POSTS_A_SECOND;
    for (let left = Math.floor(due) - count; left > 0; left -= 1) {
      const one: Promise<void> = post().finally(() => pending.delete(one));
      pending.add(one);
    }
  }, 10);
  const end = async (): Promise<void> => {
    clearInterval(timer);
    await Promise.all(pending);
  };
  open.push(end);
  return { ...posts, end };
}

function readOutbox({ folder }: Fleet): string[] {
  const outbox = path.join(folder, "outbox");
  return readdirSync(outbox)
    .filter((name) => name.endsWith(".eml"))
    .map((name) => /^To: .*?([^\s<]+@[^\s>]+)/m.exec(readFileSync(path.join(outbox, name), "utf8"))?.[1] ?? name);
}

const repeated = (values: readonly string[]): string[] => values.filter((one, at) => values.indexOf(one) !== at);

async function readRows(store: Store, emails: readonly string[]) {
  const count = async (...states: readonly string[]): Promise<number> => {
    const counts = await store.read((tx) => tx.deliveries.counts());
    return counts.filter(({ state }) => states.includes(state)).reduce((sum, one) => sum + one.count, 0);
  };
  const waiting = () => count("scheduled", "retrying", "claimed", "transmitting");
  await expect.poll(waiting, { timeout: DRAINED_MS, interval: 1000 }).toBe(0);
  const lost: string[] = [];
  for (const email of emails) if ((await store.read((tx) => tx.people.byEmail(1, email))) === null) lost.push(email);
  return { lost, sent: await count("sent"), unknown: await count("unknown") };
}

describe("a failover under load", () => {
  it("loses nothing that was acknowledged, mails nobody twice, and saves again within 30 s", async ({ skip }) => {
    skip(!isLong, "takes minutes; npm run test:long runs it");
    skip(!hasProgram("pg_basebackup"), "pg_basebackup is not installed");
    const primary = startCluster({ isDurable: true, port: 5438 });
    const name = await newName(primary);
    const standby = await startStandby(primary);
    const proxy = await startDatabaseProxy(primary);
    const fleet = await startFleet(databasePlace(proxy.url(name)), { count: 2 });
    open.push(() => standby.stop(), proxy.stop, fleet.stop);
    const standbys = async () => (await administer(primary, "SELECT sync_state FROM pg_stat_replication")).rows;
    await expect.poll(standbys).toEqual([{ sync_state: "sync" }]);
    const posts = startPosting(fleet);
    await sleep(BEFORE_MS);
    primary.stop("immediate");
    await sleep(DOWN_MS);
    const promotedMs = performance.now();
    standby.promote();
    proxy.leadTo(standby);
    await sleep(AFTER_MS);
    await posts.end();
    const firstMs = posts.goodMs.find((ms) => ms > promotedMs)! - promotedMs;
    const acknowledged = posts.by.get(201) ?? [];
    const rows = await fleet.withStore((store) => readRows(store, acknowledged));
    const mailed = readOutbox(fleet);
    const statuses = Object.fromEntries([...posts.by].map(([status, emails]) => [status, emails.length]));
    if (process.env.SHOW_FIGURES === "1") console.log({ firstMs, statuses, mailed: mailed.length, ...rows });
    expect([rows.lost, repeated(mailed)]).toEqual([[], []]);
    const arrived = new Set(mailed);
    expect(acknowledged.filter((email) => !arrived.has(email)).length).toBeLessThanOrEqual(rows.unknown);
    expect(firstMs).toBeLessThan(FIRST_MS);
    expect(acknowledged.length).toBeGreaterThan((POSTS_A_SECOND * BEFORE_MS) / 2000);
  });
});
