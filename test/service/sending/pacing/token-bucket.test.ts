import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { SendRate } from "../../../../src/service/delivery/carrier.ts";
import { FULL_BUCKET, reserve, type BucketLevel } from "../../../../src/service/sending/pacing/token-bucket.ts";

const START = 1_800_000_000_000;
const rate: SendRate = { count: 20, perSeconds: 1 };

function all(count: number, from: BucketLevel, now: number): { departures: number[]; bucket: BucketLevel } {
  const departures: number[] = [];
  let bucket = from;
  for (let at = 0; at < count; at += 1) {
    const reservation = reserve(rate, bucket, now);
    bucket = reservation.bucket;
    departures.push(...reservation.departures);
  }
  return { departures, bucket };
}

it("when 120 messages ask at once, then one leaves at once and the rest at 20 a second", () => {
  const { departures, bucket } = all(120, FULL_BUCKET, START);
  expect(departures).toEqual(Array.from({ length: 120 }, (_, at) => START + at * 50));
  expect(reserve(rate, FULL_BUCKET, START, 120)).toEqual({ bucket, departures });
});

it("when the process starts again in the middle, then nothing bursts", () => {
  const { bucket } = all(60, FULL_BUCKET, START);
  const stored = JSON.parse(JSON.stringify(bucket)) as BucketLevel;
  expect(all(3, stored, START + 1000).departures).toEqual([START + 3000, START + 3050, START + 3100]);
});

it("when nobody sent for a day, then still only one leaves at once", () => {
  expect(all(3, { level: 1, at: START - 86_400_000 }, START).departures).toEqual([START, START + 50, START + 100]);
});

it("when the clock was set back, then nobody waits for it", () => {
  expect(all(2, { level: 0, at: START + 3_600_000 }, START).departures).toEqual([START + 50, START + 100]);
});

it("when callers ask in any number at any time, then no window holds more than the rate and one", () => {
  const asks = fc.array(fc.record({ afterMs: fc.nat(5000), count: fc.integer({ min: 1, max: 20 }) }), {
    maxLength: 60,
  });
  const rates = fc.record({ count: fc.integer({ min: 1, max: 50 }), perSeconds: fc.constantFrom(1, 60) });
  fc.assert(
    fc.property(asks, rates, fc.integer({ min: 1, max: 20_000 }), (asked, limit, windowMs) => {
      const departures: number[] = [];
      let [bucket, now] = [FULL_BUCKET, START];
      for (const { afterMs, count } of asked) {
        now += afterMs;
        const next = reserve(limit, JSON.parse(JSON.stringify(bucket)) as BucketLevel, now, count);
        bucket = next.bucket;
        departures.push(...next.departures);
      }
      expect(departures).toEqual(departures.toSorted((a, b) => a - b));
      const most = Math.floor((limit.count / limit.perSeconds) * ((windowMs + 1) / 1000) + 1e-6) + 1;
      for (const [at, from] of departures.entries()) {
        const inWindow = departures.slice(at).filter((each) => each < from + windowMs).length;
        expect(inWindow).toBeLessThanOrEqual(most);
      }
    }),
    { numRuns: 100 },
  );
});
