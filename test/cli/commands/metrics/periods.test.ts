import { describe, expect, it } from "vitest";
import type { PeriodUnit } from "../../../../src/runtime/calendar/periods.ts";
import { listPeriods } from "../../../../src/cli/commands/shared/ranges.ts";

const at = (iso: string): number => Date.parse(iso) / 1000;
const iso = (seconds: number): string => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
const NOW = at("2026-02-11T12:00:00Z");

function periods(unit: PeriodUnit, since: string | null, until: string | null, zone = "UTC"): string[] {
  const range = {
    unit,
    since: since === null ? null : at(since),
    until: until === null ? null : at(until),
    now: NOW,
    zone,
  };
  const { before, periods: all } = listPeriods(range);
  return [before, ...all].map((each) => `${each.period ?? "cut"} ${iso(each.since)} ${iso(each.until)}`);
}

describe("the periods of metrics, after the one before them", () => {
  it.each<[PeriodUnit, string | null, string | null, string | undefined, string[]]>([
    [
      "month",
      "2025-12-01T00:00:00Z",
      null,
      undefined,
      [
        "2025-11 2025-11-01T00:00:00Z 2025-11-30T23:59:59Z",
        "2025-12 2025-12-01T00:00:00Z 2025-12-31T23:59:59Z",
        "2026-01 2026-01-01T00:00:00Z 2026-01-31T23:59:59Z",
        "2026-02 2026-02-01T00:00:00Z 2026-02-28T23:59:59Z",
      ],
    ],
    [
      "month",
      "2025-12-11T00:00:00Z",
      "2026-01-10T12:00:00Z",
      undefined,
      [
        "cut 2025-11-20T00:00:00Z 2025-12-10T23:59:59Z",
        "2025-12 2025-12-11T00:00:00Z 2025-12-31T23:59:59Z",
        "2026-01 2026-01-01T00:00:00Z 2026-01-10T12:00:00Z",
      ],
    ],
    [
      "week",
      "2025-12-29T00:00:00Z",
      "2026-01-05T00:00:00Z",
      undefined,
      [
        "2025-W52 2025-12-22T00:00:00Z 2025-12-28T23:59:59Z",
        "2026-W01 2025-12-29T00:00:00Z 2026-01-04T23:59:59Z",
        "2026-W02 2026-01-05T00:00:00Z 2026-01-05T00:00:00Z",
      ],
    ],
    [
      "quarter",
      "2025-10-01T00:00:00Z",
      "2025-12-31T23:59:59Z",
      undefined,
      ["2025-Q3 2025-07-01T00:00:00Z 2025-09-30T23:59:59Z", "2025-Q4 2025-10-01T00:00:00Z 2025-12-31T23:59:59Z"],
    ],
    // Only a month of the quarter is left.
    [
      "quarter",
      "2025-12-01T00:00:00Z",
      "2025-12-31T23:59:59Z",
      undefined,
      ["2025-11 2025-11-01T00:00:00Z 2025-11-30T23:59:59Z", "2025-Q4 2025-12-01T00:00:00Z 2025-12-31T23:59:59Z"],
    ],
    [
      "year",
      "2024-01-01T00:00:00Z",
      "2024-12-31T23:59:59Z",
      undefined,
      ["2023 2023-01-01T00:00:00Z 2023-12-31T23:59:59Z", "2024 2024-01-01T00:00:00Z 2024-12-31T23:59:59Z"],
    ],
    // Days of 23 and 25 hours.
    [
      "day",
      "2026-03-28T23:00:00Z",
      "2026-03-29T21:59:59Z",
      "Europe/Berlin",
      ["2026-03-28 2026-03-27T23:00:00Z 2026-03-28T22:59:59Z", "2026-03-29 2026-03-28T23:00:00Z 2026-03-29T21:59:59Z"],
    ],
    [
      "day",
      "2025-10-25T22:00:00Z",
      "2025-10-26T22:59:59Z",
      "Europe/Berlin",
      ["2025-10-25 2025-10-24T22:00:00Z 2025-10-25T21:59:59Z", "2025-10-26 2025-10-25T22:00:00Z 2025-10-26T22:59:59Z"],
    ],
    // Beirut's clocks skip midnight, so the day starts at 01:00.
    [
      "day",
      "2025-03-29T22:00:00Z",
      "2025-03-30T20:59:59Z",
      "Asia/Beirut",
      ["2025-03-29 2025-03-28T22:00:00Z 2025-03-29T21:59:59Z", "2025-03-30 2025-03-29T22:00:00Z 2025-03-30T20:59:59Z"],
    ],
  ])("by %s from %s to %s in %s", (unit, since, until, zone, expected) => {
    expect(periods(unit, since, until, zone)).toEqual(expected);
  });

  it.each<[PeriodUnit, number, string]>([
    ["day", 30, "2026-01-13"],
    ["week", 12, "2025-W48"],
    ["month", 12, "2025-03"],
    ["quarter", 8, "2024-Q2"],
    ["year", 5, "2022"],
  ])("by %s without --since are %i, from %s", (unit, count, first) => {
    const { periods: all } = listPeriods({ unit, since: null, until: null, now: NOW, zone: "UTC" });
    expect([all.length, all[0]?.period]).toEqual([count, first]);
  });

  it("are refused when there are too many", () => {
    expect(() => periods("day", "2000-01-01T00:00:00Z", null)).toThrow(
      "--by day: more than 1000 periods between --since and --until",
    );
  });
});
