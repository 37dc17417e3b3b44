import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { size } from "../../../helpers/long.ts";
import { administer, hasProgram, newDatabase, serverProgram, startCluster } from "../../../helpers/postgres.ts";
import { ask, databasePlace, type Member, startFleet } from "../fleet.ts";

/** Set `SURVEYCTL_SOAK_SECONDS` for a manual run. */
const SECONDS = Number(process.env["SURVEYCTL_SOAK_SECONDS"] ?? size(8, 1800));
/** Slow enough that the machine isn't the bottleneck. */
const CLIENTS = 4;
const PAUSE_MS = size(20, 100);
const LOOK_MS = size(500, 5000);
/** A process needs minutes to reach its heap size, and PostgreSQL as long until its first autovacuum. */
const isJudged = SECONDS >= 1200;
/** MiB per minute after warm-up. */
const SLOPE_MAX = 1;
/** Limits V8's young generation, whose size otherwise varies from 1 to 32 MiB and hides a leak. */
const STEADY = { NODE_OPTIONS: "--max-semi-space-size=1" };
const HOT = ["project_state", "row_counts"];
const HOT_MAX_KIB = 4096;

interface Look {
  readonly minutes: number;
  readonly residentMiB: readonly number[];
  readonly requests: number;
  readonly p99Ms: number;
  readonly deadRows: number;
  readonly hotKiB: number;
}

const residentMiB = ({ running }: Member): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${running.child.pid}/status`, "utf8"))?.[1]) / 1024;

/** A judged run needs a server with autovacuum; a short run ends before it would matter. */
async function openDatabase(): Promise<{ readonly url: string; readonly stop: () => void }> {
  if (!isJudged) return { url: await newDatabase(), stop: () => undefined };
  const cluster = startCluster({ isDurable: true, port: 5436 });
  await administer(cluster, "CREATE DATABASE soak");
  return { url: cluster.url("soak"), stop: cluster.stop };
}

async function readTables(client: Client): Promise<Pick<Look, "deadRows" | "hotKiB">> {
  const { rows } = await client.query<Record<"dead" | "hot", string>>(
    `SELECT sum(n_dead_tup) AS dead, sum(pg_table_size(relid)) FILTER (WHERE relname = ANY ($1)) / 1024 AS hot
     FROM pg_stat_user_tables`,
    [HOT],
  );
  return { deadRows: Number(rows[0]?.dead), hotKiB: Number(rows[0]?.hot) };
}

function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const over = points.reduce((sum, [one, other]) => sum + (one - x) * (other - y), 0);
  return over / points.reduce((sum, [one]) => sum + (one - x) ** 2, 0);
}

/** Dumps continuously; each dump keeps a snapshot open. */
async function dump(url: string, control: { readonly isOver: boolean }): Promise<number> {
  let count = 0;
  for (; !control.isOver; count += 1) {
    const child = spawn(serverProgram("pg_dump"), ["--dbname", url, "--file", "/dev/null"], { stdio: "inherit" });
    const [status] = (await once(child, "close")) as [number];
    if (status !== 0) throw new Error(`pg_dump ended with ${status}`);
    await sleep(size(1000, 10_000));
  }
  return count;
}

describe.skipIf(!hasProgram("pg_dump"))("two processes on one database", () => {
  it(`when they work for ${SECONDS} s, then no request fails, and memory and times level off`, async () => {
    const { url: database, stop } = await openDatabase();
    const fleet = await startFleet(databasePlace(database), { count: 2, env: STEADY });
    const client = new Client({ connectionString: database });
    await client.connect();
    const control = { isOver: false, names: 0 };
    const failures: unknown[] = [];
    const times: number[] = [];
    const must = async (
      at: number,
      method: string,
      target: string,
      body?: unknown,
    ): Promise<{ readonly id?: string }> => {
      const began = performance.now();
      const { status, json } = await ask(fleet.members[at % 2]!.url, method, target, body);
      times.push(performance.now() - began);
      if (status >= 300) failures.push([method, target, status, json]);
      return json as { readonly id?: string };
    };
    const work = async (_: unknown, own: number): Promise<void> => {
      for (let at = own; !control.isOver; at += 1) {
        const email = `s${(control.names += 1)}@x.co`;
        const { id } = await must(at, "POST", "/v1/people.json", { email, send: at % 4 === 0 });
        await must(at + 1, "POST", "/v1/survey_responses.json", { person: id, score: at % 11, comment: "fine" });
        await must(at, "GET", "/v1/people.json?per_page=100");
        await must(at + 1, "GET", "/v1/survey_responses.json?order=desc:updated_at&per_page=100");
        await must(at, "GET", "/v1/metrics.json");
        if (at % 3 === 0) await must(at + 1, "DELETE", `/v1/people/${id}`);
        await sleep(PAUSE_MS);
      }
    };
    try {
      const working = Promise.all([...Array.from({ length: CLIENTS }, work), dump(database, control)]);
      const looks: Look[] = [];
      const began = performance.now();
      while (performance.now() - began < SECONDS * 1000 && failures.length === 0) {
        await sleep(LOOK_MS);
        const some = times.splice(0).toSorted((one, other) => one - other);
        const minutes = (performance.now() - began) / 60_000;
        const p99Ms = some[Math.floor(some.length * 0.99)] ?? 0;
        const tables = await readTables(client);
        looks.push({ minutes, residentMiB: fleet.members.map(residentMiB), requests: some.length, p99Ms, ...tables });
      }
      control.isOver = true;
      await working;
      // Skip the first third, which loads code and fills caches.
      const settled = looks.slice(Math.floor(looks.length / 3));
      const slopes = [0, 1].map((at) => slope(settled.map((look) => [look.minutes, look.residentMiB[at] ?? 0])));
      const halves = [settled.slice(0, settled.length / 2), settled.slice(settled.length / 2)];
      const [times1, times2] = halves.map((half) => median(half.map(({ p99Ms }) => p99Ms)));
      const [dead1, dead2] = halves.map((half) => median(half.map(({ deadRows }) => deadRows)));
      const requests = looks.reduce((sum, look) => sum + look.requests, 0);
      const figures = { SECONDS, requests, slopes, times: [times1, times2], dead: [dead1, dead2], end: looks.at(-1) };
      if (process.env.SHOW_FIGURES === "1") console.log(JSON.stringify(figures));
      expect(failures).toEqual([]);
      expect(requests).toBeGreaterThan(SECONDS * 2);
      if (!isJudged) return;
      expect(Math.max(...slopes)).toBeLessThanOrEqual(SLOPE_MAX);
      expect(looks.at(-1)?.hotKiB).toBeLessThan(HOT_MAX_KIB);
      expect(dead2).toBeLessThan(2 * (dead1 ?? 0) + 2000);
      expect(times2).toBeLessThan(2 * (times1 ?? 0) + 50);
    } finally {
      control.isOver = true;
      await client.end();
      await fleet.stop();
      stop();
    }
  });
});

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
