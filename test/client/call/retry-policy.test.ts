import { describe, expect, it } from "vitest";
import { backoffMs, decide, type Failure, type RetryFacts } from "../../../src/client/call/retry-policy.ts";

const status = (code: number, retryAfterMs: number | null = null): Failure => ({
  kind: "status",
  status: code,
  retryAfterMs,
});
const facts = (failure: Failure, extra: Partial<RetryFacts> = {}): RetryFacts => ({
  failure,
  idempotent: true,
  tries: 1,
  fraction: 0.5,
  retries: 5,
  maxWaitMs: 300_000,
  ...extra,
});
const notSent = (repeatsMax: number): Failure => ({ kind: "not-sent", repeatsMax });
const retry = { action: "retry", waitMs: 200 };
const giveUp = { action: "give-up" };

describe("what a failure leads to", () => {
  it.each<[string, Failure, object, object]>([
    ["a connection that failed before the request was sent", notSent(Infinity), retry, retry],
    ["a certificate that cannot be trusted", notSent(0), giveUp, giveUp],
    ["an unknown host", notSent(1), retry, retry],
    ["a lost answer", { kind: "lost" }, retry, giveUp],
    ["a 2xx that cannot be read", { kind: "unreadable" }, giveUp, giveUp],
    ["429", status(429), retry, retry],
    ["429 with Retry-After", status(429, 7000), { action: "retry", waitMs: 7000 }, { action: "retry", waitMs: 7000 }],
    ["429 with Retry-After now or in the past", status(429, 0), retry, retry],
    ["429 with a longer Retry-After than allowed", status(429, 300_001), giveUp, giveUp],
    ["503 with Retry-After", status(503, 2000), { action: "retry", waitMs: 2000 }, { action: "retry", waitMs: 2000 }],
    ["503 with a longer Retry-After than allowed", status(503, 1e12), giveUp, giveUp],
    ["503 without", status(503), retry, giveUp],
    ["408", status(408), retry, giveUp],
    ["500", status(500), retry, giveUp],
    ["502", status(502), retry, giveUp],
    ["504", status(504), retry, giveUp],
    ["501", status(501), giveUp, giveUp],
    ["520", status(520), giveUp, giveUp],
    ["303", status(303), giveUp, giveUp],
    ["302", status(302), giveUp, giveUp],
    ["400", status(400), giveUp, giveUp],
    ["401", status(401), giveUp, giveUp],
    ["404", status(404), giveUp, giveUp],
    ["422", status(422), giveUp, giveUp],
  ])("when there is %s", (_, failure, idempotent, otherwise) => {
    expect(decide(facts(failure))).toEqual(idempotent);
    expect(decide(facts(failure, { idempotent: false }))).toEqual(otherwise);
  });
});

describe("the limits", () => {
  it.each([
    { tries: 1, retries: 0, expected: giveUp },
    { tries: 5, retries: 5, expected: { action: "retry", waitMs: 3200 } },
    { tries: 6, retries: 5, expected: giveUp },
  ])("when $tries tries failed of $retries repeats", ({ tries, retries, expected }) => {
    expect(decide(facts(status(500), { tries, retries }))).toEqual(expected);
  });

  it("when the host is unknown, then it is tried twice and no more", () => {
    expect(decide(facts(notSent(1), { tries: 2 }))).toEqual(giveUp);
    expect(decide(facts(notSent(1), { retries: 0 }))).toEqual(giveUp);
  });

  it("when --max-wait is short, then no wait is longer", () => {
    expect(decide(facts(status(500), { tries: 5, maxWaitMs: 100 }))).toEqual({ action: "retry", waitMs: 100 });
  });
});

describe("backoff", () => {
  it("when tries go on, then the ceiling doubles and ends at 20 s", () => {
    const ceilings = [1, 2, 3, 4, 5, 6, 7, 8].map((tries) => backoffMs(tries, 0.999_999));
    expect(ceilings).toEqual([400, 800, 1600, 3200, 6400, 12_800, 20_000, 20_000]);
  });

  it("when chance says nothing, then there is no wait at all", () => {
    expect(backoffMs(4, 0)).toBe(0);
  });
});
