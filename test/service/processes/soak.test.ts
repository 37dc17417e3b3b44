/** Two processes under mixed load for long, while the database is dumped: nothing fails, and nothing grows for ever. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { size } from "../../helpers/long.ts";
import { hasPostgres, newDatabase, serverProgram } from "../../helpers/postgres.ts";
import { ask, type Member, startFleet } from "./fleet.ts";

/** `SURVEYCTL_SOAK_SECONDS` is for a run by hand. */
const SECONDS = Number(process.env["SURVEYCTL_SOAK_SECONDS"] ?? size(8, 1800));
/** So slow that the machine is not the limit. */
const CLIENTS = 4;
const PAUSE_MS = size(20, 20);
const LOOK_MS = size(500, 5000);
/** MiB a minute, once everything is loaded. */
const SLOPE_MAX = 1;

interface Look {
  readonly minutes: number;
  readonly residentMiB: readonly number[];
  readonly requests: number;
  readonly p99Ms: number;
}

const residentMiB = ({ running }: Member): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${running.child.pid}/status`, "utf8"))?.[1]) / 1024;

/** Of the best straight line through the points. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const over = points.reduce((sum, [one, other]) => sum + (one - x) * (other - y), 0);
  return over / points.reduce((sum, [one]) => sum + (one - x) ** 2, 0);
}

/** One dump after the other: each keeps a snapshot open. */
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

describe.skipIf(!hasPostgres)("two processes on one database", () => {
  it(`when they work for ${SECONDS} s, then no request fails, and memory and times level off`, async () => {
    const database = await newDatabase();
    const fleet = await startFleet(database, { count: 2 });
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
    const client = async (_: unknown, own: number): Promise<void> => {
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
      const working = Promise.all([...Array.from({ length: CLIENTS }, client), dump(database, control)]);
      const looks: Look[] = [];
      const began = performance.now();
      while (performance.now() - began < SECONDS * 1000 && failures.length === 0) {
        await sleep(LOOK_MS);
        const some = times.splice(0).toSorted((one, other) => one - other);
        const minutes = (performance.now() - began) / 60_000;
        const p99Ms = some[Math.floor(some.length * 0.99)] ?? 0;
        looks.push({ minutes, residentMiB: fleet.members.map(residentMiB), requests: some.length, p99Ms });
      }
      control.isOver = true;
      await working;
      // The first third loads code and fills caches.
      const settled = looks.slice(Math.floor(looks.length / 3));
      const slopes = [0, 1].map((at) => slope(settled.map((look) => [look.minutes, look.residentMiB[at] ?? 0])));
      const [first, last] = [settled.slice(0, settled.length / 2), settled.slice(settled.length / 2)].map(medianP99);
      const requests = looks.reduce((sum, look) => sum + look.requests, 0);
      if (process.env.SHOW_FIGURES === "1") console.log({ SECONDS, requests, slopes, first, last, end: looks.at(-1) });
      expect(failures).toEqual([]);
      expect(requests).toBeGreaterThan(SECONDS * 2);
      // The heap of a process takes minutes to find its size.
      if (SECONDS < 1200) return;
      expect(Math.max(...slopes)).toBeLessThanOrEqual(SLOPE_MAX);
      expect(last).toBeLessThan(2 * (first ?? 0) + 50);
    } finally {
      control.isOver = true;
      await fleet.stop();
    }
  });
});

function medianP99(looks: readonly Look[]): number {
  return looks.map(({ p99Ms }) => p99Ms).toSorted((one, other) => one - other)[Math.floor(looks.length / 2)] ?? 0;
}
