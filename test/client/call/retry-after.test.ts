import { describe, expect, it } from "vitest";
import { readRetryAfter } from "../../../src/client/call/retry-policy.ts";

const NOW = Date.UTC(2026, 5, 1, 12, 0, 0);

describe("Retry-After", () => {
  it.each<[string, string | undefined, number | null]>([
    ["absent", undefined, null],
    ["empty", "", null],
    ["seconds", "7", 7000],
    ["zero", "0", 0],
    ["a fraction", "1.5", 1500],
    ["spaces around", "  3 ", 3000],
    ["more than a life", "99999999999999", 99_999_999_999_999_000],
    ["negative", "-5", null],
    ["words", "soon", null],
    ["a unit", "5s", null],
    ["an HTTP date", "Mon, 01 Jun 2026 12:00:30 GMT", 30_000],
    ["the second form of a date", "Monday, 01-Jun-26 12:00:30 GMT", 30_000],
    ["the oldest form of a date", "Mon Jun  1 12:00:30 2026", 30_000],
    ["a date in the past", "Mon, 01 Jun 2020 12:00:00 GMT", 0],
    ["a date that is none", "Mon, 99 Jun 2026 12:00:00 GMT", null],
    ["an ISO date, which HTTP does not know", "2026-06-01T12:00:30Z", null],
  ])("when it is %s", (_, header, expected) => {
    expect(readRetryAfter(header === undefined ? {} : { "retry-after": header }, NOW)).toBe(expected);
  });

  it("when our clock is wrong, then the answer's own Date counts", () => {
    const headers = { "retry-after": "Mon, 01 Jun 2026 12:00:30 GMT", date: "Mon, 01 Jun 2026 12:00:20 GMT" };
    expect(readRetryAfter(headers, NOW - 86_400_000)).toBe(10_000);
  });
});
