import { describe, expect, it } from "vitest";
import { parseTime, parseZone, TIME_FORMS, type DayEdge } from "../../../src/cli/args/time.ts";
import { UsageError } from "../../../src/cli/errors/usage-error.ts";

/** 2026-02-01T12:34:56Z. */
const NOW = 1_769_949_296;

function iso(text: string, zone: string | null = "UTC", edge: DayEdge = "first", now: number = NOW): string {
  return new Date(parseTime(text, "--since", { now, zone }, edge) * 1000).toISOString().replace(".000Z", "Z");
}

describe("a time on the command line", () => {
  it.each([
    ["0", "1970-01-01T00:00:00Z"],
    ["1767225600", "2026-01-01T00:00:00Z"],
    ["2026-01-31", "2026-01-31T00:00:00Z"],
    ["2026-01-31T09:30", "2026-01-31T09:30:00Z"],
    ["2026-01-31 09:30:15", "2026-01-31T09:30:15Z"],
    ["2026-01-31T09:30:15.999Z", "2026-01-31T09:30:15Z"],
    ["2026-01-31T09:30:00+02:00", "2026-01-31T07:30:00Z"],
    ["2026-01-31T09:30:00-0530", "2026-01-31T15:00:00Z"],
    ["2026-01-31t09:30:00z", "2026-01-31T09:30:00Z"],
    ["2024-02-29", "2024-02-29T00:00:00Z"],
    ["now", "2026-02-01T12:34:56Z"],
    ["today", "2026-02-01T00:00:00Z"],
    ["Yesterday", "2026-01-31T00:00:00Z"],
    ["90m", "2026-02-01T11:04:56Z"],
    ["24h", "2026-01-31T12:34:56Z"],
    ["7d", "2026-01-25T12:34:56Z"],
    [" 2w ", "2026-01-18T12:34:56Z"],
  ])("when it is %s, then it is %s", (text, expected) => {
    expect(iso(text)).toBe(expected);
  });

  it.each([
    ["2026-01-31", "2026-01-31T23:59:59Z"],
    ["today", "2026-02-01T23:59:59Z"],
    ["yesterday", "2026-01-31T23:59:59Z"],
    ["now", "2026-02-01T12:34:56Z"],
    ["2026-01-31T09:30", "2026-01-31T09:30:00Z"],
  ])("when %s ends a range, then it is %s", (text, expected) => {
    expect(iso(text, "UTC", "last")).toBe(expected);
  });

  it.each([
    ["Europe/Berlin", "2026-03-29", "first", "2026-03-28T23:00:00Z"],
    ["Europe/Berlin", "2026-03-29", "last", "2026-03-29T21:59:59Z"],
    ["Europe/Berlin", "2026-10-25", "first", "2026-10-24T22:00:00Z"],
    ["Europe/Berlin", "2026-10-25", "last", "2026-10-25T22:59:59Z"],
    ["America/New_York", "2026-07-01T12:00", "first", "2026-07-01T16:00:00Z"],
    ["Asia/Kathmandu", "2026-07-01T12:00", "first", "2026-07-01T06:15:00Z"],
    ["Pacific/Kiritimati", "2026-01-01", "first", "2025-12-31T10:00:00Z"],
    // Clocks go forward at midnight: the day begins at one.
    ["America/Santiago", "2026-09-06", "first", "2026-09-06T04:00:00Z"],
  ] as const)("when the zone is %s, then %s has its %s second at %s", (zone, text, edge, expected) => {
    expect(iso(text, zone, edge)).toBe(expected);
  });

  it("when the clock shows a time twice, then it is the earlier", () => {
    expect(iso("2026-10-25T02:30", "Europe/Berlin")).toBe("2026-10-25T00:30:00Z");
  });

  it("when the clock jumps over a time, then it is as much after the jump", () => {
    expect(iso("2026-03-29T02:30", "Europe/Berlin")).toBe("2026-03-29T01:30:00Z");
  });

  it("when it is late in the zone, then today is the zone's day", () => {
    expect([iso("today", "Pacific/Kiritimati"), iso("today", "America/Los_Angeles")]).toEqual([
      "2026-02-01T10:00:00Z",
      "2026-02-01T08:00:00Z",
    ]);
  });

  it.each([
    "",
    "soon",
    "2026-02-30",
    "2026-13-01",
    "2026-1-1",
    "0085-01-31",
    "2026-01-31T24:00",
    "2026-01-31T23:60",
    "2026-01-31T23:59:60",
    "2026-01-31T09:30+24:00",
    "2026-01-31T09:30+02:60",
    "2026-01-31T09",
    "-1",
    "1.5",
    "7x",
    "7 d",
    "12345678901234",
    "tomorrow",
    "2026-01-31T09:30+2",
    "99999999w",
  ])("when it is %j, then the error names it and the accepted forms", (text) => {
    expect(() => parseTime(text, "--until", { now: NOW, zone: "UTC" })).toThrow(
      new UsageError(`--until: ${JSON.stringify(text)} is not ${TIME_FORMS}`),
    );
  });
});

describe("a zone", () => {
  it.each(["UTC", "Europe/Berlin", "America/New_York"])("when it is %s, then it is known", (zone) => {
    expect(parseZone(zone, "--tz")).toBe(zone);
  });

  it.each(["Mars/Phobos", "", "not a zone"])("when it is %j, then it is refused", (zone) => {
    expect(() => parseZone(zone, "--tz")).toThrow(`--tz: ${JSON.stringify(zone)} is not a time zone such as UTC`);
  });
});
