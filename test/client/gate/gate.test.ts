import { describe, expect, it } from "vitest";
import { Gate } from "../../../src/client/gate/gate.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";

function leakyBucket(clock: Clock, ratePerSecond: number, capacity: number): () => number | null {
  let level = 0;
  let at = clock.monotonic();
  return () => {
    level = Math.max(0, level - ((clock.monotonic() - at) / 1000) * ratePerSecond);
    at = clock.monotonic();
    if (level + 1 > capacity) return Math.max(1, Math.ceil((level + 1 - capacity) / ratePerSecond)) * 1000;
    level += 1;
    return null;
  };
}

interface Answered {
  readonly atMs: number;
  readonly throttled: boolean;
}

async function importRows(
  gate: Gate,
  clock: Clock,
  {
    count,
    workers,
    latencyMs,
    service,
  }: { count: number; workers: number; latencyMs: number; service: () => number | null },
): Promise<Answered[]> {
  const answers: Answered[] = [];
  let left = count;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      for (;;) {
        const turn = await gate.enter();
        await clock.sleep(latencyMs / 2);
        const waitMs = service();
        answers.push({ atMs: clock.monotonic(), throttled: waitMs !== null });
        await clock.sleep(latencyMs / 2);
        turn.end(waitMs === null ? { kind: "accepted" } : { kind: "throttled", pauseMs: waitMs, rate: true });
        if (waitMs === null) break;
        await clock.sleep(waitMs);
      }
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return answers;
}

function mostInOneSecond(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));
}

describe("the pace", () => {
  it("when nothing but 429s came yet, then only the pause that was asked for holds the next request up", async () => {
    const clock = createFakeClock();
    const gate = new Gate({ clock, concurrency: 8 });
    const limited = [1000, 1000, null, null, null];
    await importRows(gate, clock, { count: 3, workers: 1, latencyMs: 10, service: () => limited.shift() ?? null });
    expect(clock.monotonic()).toBeLessThan(2500);
  });

  it.each([
    { rate: 10, capacity: 10, latencyMs: 5, count: 3000, least: 0.95 },
    { rate: 10, capacity: 1, latencyMs: 5, count: 3000, least: 0.75 },
    { rate: 10, capacity: 20, latencyMs: 200, count: 3000, least: 0.95 },
    { rate: 100, capacity: 100, latencyMs: 5, count: 10_000, least: 0.95 },
    { rate: 100, capacity: 10, latencyMs: 40, count: 10_000, least: 0.7 },
    { rate: 100 / 60, capacity: 100, latencyMs: 50, count: 2000, least: 0.95 },
    { rate: 600, capacity: 600, latencyMs: 8, count: 10_000, least: 0.95 },
    { rate: 10, capacity: 600, latencyMs: 8, count: 3000, least: 0.95 },
  ])(
    "when a bucket leaks $rate a second and holds $capacity, then few requests of a long import meet a 429",
    async (given) => {
      const clock = createFakeClock();
      const gate = new Gate({ clock, concurrency: 8 });
      const answers = await importRows(gate, clock, {
        ...given,
        workers: 8,
        service: leakyBucket(clock, given.rate, given.capacity),
      });
      const settled = answers.slice(Math.floor(answers.length / 4));
      const share = settled.filter(({ throttled }) => throttled).length / settled.length;
      const seconds = ((answers.at(-1)?.atMs ?? 0) - (settled[0]?.atMs ?? 0)) / 1000;
      const used = settled.length / seconds / given.rate;
      expect(share).toBeLessThanOrEqual(0.01);
      expect(used).toBeGreaterThan(given.least);
    },
  );

  it("when 429s come now and then whatever the pace, then the import does not crawl", async () => {
    const clock = createFakeClock();
    const gate = new Gate({ clock, concurrency: 8 });
    let count = 0;
    const service = (): number | null => ((count += 1) % 50 === 0 ? 1000 : null);
    const answers = await importRows(gate, clock, { count: 2000, workers: 8, latencyMs: 5, service });
    expect(answers.filter(({ throttled }) => throttled)).toHaveLength(40);
    expect(answers.at(-1)?.atMs).toBeLessThan(180_000);
  });

  it.each([0, 300])(
    "when 429s come in storms and ask to wait %i ms, then one storm slows the import once and not with each 429",
    async (waitMs) => {
      const clock = createFakeClock();
      const gate = new Gate({ clock, concurrency: 8 });
      let count = 0;
      // The pace is low by then, so each of the six gets its own 429.
      const service = (): number | null => ((count += 1) % 300 < 6 && count > 300 ? waitMs : null);
      const answers = await importRows(gate, clock, { count: 9000, workers: 8, latencyMs: 50, service });
      expect(answers.filter(({ throttled }) => throttled).length).toBeGreaterThan(150);
      expect(answers.at(-1)?.atMs).toBeLessThan(150_000);
    },
  );

  it("when a limit is lifted, then the pace climbs again", async () => {
    const clock = createFakeClock();
    const gate = new Gate({ clock, concurrency: 8 });
    const slow = leakyBucket(clock, 10, 10);
    await importRows(gate, clock, { count: 300, workers: 8, latencyMs: 5, service: slow });
    const answers = await importRows(gate, clock, { count: 5000, workers: 8, latencyMs: 5, service: () => null });
    const last = answers.slice(-100);
    const perSecond = (100 * 1000) / ((last.at(-1)?.atMs ?? 0) - (last[0]?.atMs ?? 0));
    expect(perSecond).toBeGreaterThan(100);
  });
});

describe("the ceiling", () => {
  it.each([
    { rate: 10, most: 10 },
    { rate: 100, most: 100 },
    { rate: 2.5, most: 3 },
    { rate: 0.5, most: 1 },
    { rate: 750, most: 750 },
  ])("when --rate is $rate, then no second sees more than $most starts", async ({ rate, most }) => {
    const clock = createFakeClock();
    const gate = new Gate({ clock, concurrency: 8, ratePerSecond: rate });
    const count = Math.max(5, Math.min(rate * 4, 1500));
    const answers = await importRows(gate, clock, { count, workers: 8, latencyMs: 4, service: () => null });
    const times = answers.map(({ atMs }) => atMs);
    expect(mostInOneSecond(times)).toBeLessThanOrEqual(most);
    const used = (answers.length - 1) / (((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000) / rate;
    expect(used).toBeGreaterThan(0.9);
  });

  it("when timers come late, then nothing is made up for beyond the ceiling", async () => {
    const clock = createFakeClock();
    const late: Clock = { ...clock, sleep: async (ms, signal) => await clock.sleep(ms + ((ms * 7) % 13), signal) };
    const gate = new Gate({ clock: late, concurrency: 8, ratePerSecond: 50 });
    const answers = await importRows(gate, clock, { count: 300, workers: 8, latencyMs: 4, service: () => null });
    expect(mostInOneSecond(answers.map(({ atMs }) => atMs))).toBeLessThanOrEqual(50);
  });
});

describe("the gate", () => {
  it("when one request meets a 429, then every worker waits and fewer run at once", async () => {
    const clock = createFakeClock(0);
    const gate = new Gate({ clock, concurrency: 4 });
    const turns = await Promise.all([1, 2, 3, 4].map(async () => await gate.enter()));
    expect(turns[0]?.end({ kind: "throttled", pauseMs: 5000, rate: true })).toBe(true);
    expect(turns[1]?.end({ kind: "throttled", pauseMs: 5000, rate: true })).toBe(false);
    const entered: number[] = [];
    const waiting = [1, 2, 3].map(async () => {
      const turn = await gate.enter();
      entered.push(clock.now());
      return turn;
    });
    turns[2]?.end({ kind: "accepted" });
    turns[3]?.end({ kind: "accepted" });
    const [first, second] = await Promise.all(waiting.slice(0, 2));
    expect(entered[0]).toBe(5000);
    expect(entered).toHaveLength(2);
    first?.end({ kind: "accepted" });
    await waiting[2];
    second?.end({ kind: "failed" });
  });

  it("when a 503 asks for a pause, then the pace afterwards stays free", async () => {
    const clock = createFakeClock(0);
    const gate = new Gate({ clock, concurrency: 2 });
    const turn = await gate.enter();
    turn.end({ kind: "throttled", pauseMs: 2000, rate: false });
    const again = await gate.enter();
    again.end({ kind: "accepted" });
    await gate.enter();
    expect(clock.now()).toBe(2000);
  });

  it("when a waiting request is aborted, then it leaves the queue and no timer stays", async () => {
    const clock = createFakeClock(0);
    const gate = new Gate({ clock, concurrency: 1 });
    const turn = await gate.enter();
    const control = new AbortController();
    const waiting = gate.enter(control.signal);
    control.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(gate.enter(control.signal)).rejects.toThrow("enough");
    turn.end({ kind: "throttled", pauseMs: 60_000, rate: true });
    const other = new AbortController();
    const late = gate.enter(other.signal);
    other.abort(new Error("enough"));
    await expect(late).rejects.toThrow("enough");
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.now()).toBe(0);
  });
});
