import { describe, expect, it } from "vitest";
import {
  settleZone,
  parseDelay,
  parseFutureTime,
  readDelayOrNull,
  parsePeriod,
  parseTime,
  parseZone,
  readTimeOrNull,
  TIME_FORMS,
  type DayEdge,
} from "../../../src/cli/args/time.ts";
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
    ["2026-01-31 09:30:00+00", "2026-01-31T09:30:00Z"],
    ["2026-01-31 09:30:00 UTC", "2026-01-31T09:30:00Z"],
    ["1767225600000", "2026-01-01T00:00:00Z"],
    ["2026-01-31t09:30:00z", "2026-01-31T09:30:00Z"],
    ["2024-02-29", "2024-02-29T00:00:00Z"],
    ["now", "2026-02-01T12:34:56Z"],
    ["today", "2026-02-01T00:00:00Z"],
    ["Yesterday", "2026-01-31T00:00:00Z"],
    ["90m", "2026-02-01T11:04:56Z"],
    ["24h", "2026-01-31T12:34:56Z"],
    ["7d", "2026-01-25T12:34:56Z"],
    [" 2w ", "2026-01-18T12:34:56Z"],
    ["tomorrow", "2026-02-02T00:00:00Z"],
    ["2025-11", "2025-11-01T00:00:00Z"],
    ["2025-q4", "2025-10-01T00:00:00Z"],
    ["last-month", "2026-01-01T00:00:00Z"],
    ["2025", "2025-01-01T00:00:00Z"],
    // NOW is a Sunday.
    ["today 9:00", "2026-02-01T09:00:00Z"],
    ["Tomorrow 09:30", "2026-02-02T09:30:00Z"],
    ["yesterday 14:00", "2026-01-31T14:00:00Z"],
    ["3 days ago", "2026-01-29T12:34:56Z"],
    ["1 hour ago", "2026-02-01T11:34:56Z"],
    ["2 Weeks ago", "2026-01-18T12:34:56Z"],
    ["monday", "2026-01-26T00:00:00Z"],
    ["mon 9:00", "2026-01-26T09:00:00Z"],
    ["sunday", "2026-02-01T00:00:00Z"],
    ["sunday 12:00", "2026-02-01T12:00:00Z"],
    ["sunday 13:00", "2026-01-25T13:00:00Z"],
    ["last sunday", "2026-01-25T00:00:00Z"],
    ["Last Monday 9:00", "2026-01-26T09:00:00Z"],
  ])("when it is %s, then it is %s", (text, expected) => {
    expect(iso(text)).toBe(expected);
  });

  it.each([
    ["2026-01-31", "2026-01-31T23:59:59Z"],
    ["2026/01/31", "2026-01-31T23:59:59Z"],
    ["today", "2026-02-01T23:59:59Z"],
    ["yesterday", "2026-01-31T23:59:59Z"],
    ["now", "2026-02-01T12:34:56Z"],
    ["2026-01-31T09:30", "2026-01-31T09:30:00Z"],
    ["tomorrow", "2026-02-02T23:59:59Z"],
    ["2024-02", "2024-02-29T23:59:59Z"],
    ["2025-Q4", "2025-12-31T23:59:59Z"],
    ["2026-W05", "2026-02-01T23:59:59Z"],
    ["This-Week", "2026-02-01T23:59:59Z"],
    ["last-year", "2025-12-31T23:59:59Z"],
    ["2025", "2025-12-31T23:59:59Z"],
    ["last monday", "2026-01-26T23:59:59Z"],
    ["yesterday 14:00", "2026-01-31T14:00:00Z"],
    ["3 days ago", "2026-01-29T12:34:56Z"],
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
    // Clocks go forward at midnight, so the day starts at one.
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

  it("when a day is named with a time, then it is the zone's", () => {
    expect(["today 9:00", "last monday", "yesterday 2:30"].map((text) => iso(text, "Europe/Berlin"))).toEqual([
      "2026-02-01T08:00:00Z",
      "2026-01-25T23:00:00Z",
      "2026-01-31T01:30:00Z",
    ]);
    expect(iso("sunday 2:30", "Europe/Berlin", "first", Date.UTC(2026, 2, 29, 12) / 1000)).toBe("2026-03-29T01:30:00Z");
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
    "last-day",
    "next-hour",
    "2026-Q5",
    "2026-00",
    "2026-W54",
    "2026-13",
    "2026-01-31T09:30+2",
    "99999999w",
    "today 24:00",
    "today 9",
    "9:00",
    "mond",
    "last tomorrow",
    "next monday",
    "3 sdays ago",
    "days ago",
  ])("when it is %j, then the error names it and the accepted forms", (text) => {
    expect(() => parseTime(text, "--until", { now: NOW, zone: "UTC" })).toThrow(
      new UsageError(`--until: ${JSON.stringify(text)} is not ${TIME_FORMS}`),
    );
  });
});

it("when a day is typed in eight digits, then the error shows how to write it", () => {
  expect(() => parseTime("20260131", "--since", { now: NOW, zone: "UTC" })).toThrow(
    new UsageError('--since: "20260131" is not a time: as Unix seconds it is in 1970; write 2026-01-31'),
  );
});

it.each(["2026", "20260131"])("when a cell holds %s, then it is not a time", (text) => {
  expect(readTimeOrNull(text, { now: NOW, zone: "UTC" })).toBe(null);
});

function ends(text: string, zone = "UTC"): string[] {
  const { since, until } = parsePeriod(text, "--period", { now: NOW, zone });
  return [since, until].map((seconds) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z"));
}

describe("a period on the command line", () => {
  // 2026-02-01 is a Sunday, the last day of its week.
  it.each([
    ["2026", "2026-01-01T00:00:00Z", "2026-12-31T23:59:59Z"],
    ["2026-02", "2026-02-01T00:00:00Z", "2026-02-28T23:59:59Z"],
    ["2026-Q1", "2026-01-01T00:00:00Z", "2026-03-31T23:59:59Z"],
    ["2026-w01", "2025-12-29T00:00:00Z", "2026-01-04T23:59:59Z"],
    ["2020-W53", "2020-12-28T00:00:00Z", "2021-01-03T23:59:59Z"],
    ["2026-01-31", "2026-01-31T00:00:00Z", "2026-01-31T23:59:59Z"],
    ["today", "2026-02-01T00:00:00Z", "2026-02-01T23:59:59Z"],
    ["yesterday", "2026-01-31T00:00:00Z", "2026-01-31T23:59:59Z"],
    ["tomorrow", "2026-02-02T00:00:00Z", "2026-02-02T23:59:59Z"],
    ["this-week", "2026-01-26T00:00:00Z", "2026-02-01T23:59:59Z"],
    ["last-week", "2026-01-19T00:00:00Z", "2026-01-25T23:59:59Z"],
    ["this-month", "2026-02-01T00:00:00Z", "2026-02-28T23:59:59Z"],
    ["last-month", "2026-01-01T00:00:00Z", "2026-01-31T23:59:59Z"],
    ["this-quarter", "2026-01-01T00:00:00Z", "2026-03-31T23:59:59Z"],
    ["last-quarter", "2025-10-01T00:00:00Z", "2025-12-31T23:59:59Z"],
    ["this-year", "2026-01-01T00:00:00Z", "2026-12-31T23:59:59Z"],
    ["LAST-YEAR", "2025-01-01T00:00:00Z", "2025-12-31T23:59:59Z"],
  ])("when it is %s, then it is from %s to %s", (text, since, until) => {
    expect(ends(text)).toEqual([since, until]);
  });

  it("when clocks change in it, then its ends are the zone's own", () => {
    expect(ends("2026-03", "Europe/Berlin")).toEqual(["2026-02-28T23:00:00Z", "2026-03-31T21:59:59Z"]);
  });

  it.each(["", "7d", "now", "2026-1", "2026-05-32", "month", "1960", "1767225600"])(
    "when it is %j, it is refused",
    (text) => {
      expect(() => parsePeriod(text, "--period", { now: NOW, zone: "UTC" })).toThrow(
        `--period: ${JSON.stringify(text)} is not a period such as 2026-05`,
      );
    },
  );
});

it("when a cell of a file holds a whole month, then it is no time: a date lost its day", () => {
  const context = { now: NOW, zone: "UTC" };
  expect(["2026-01", "last-month", "2026-Q1", "tomorrow"].map((cell) => readTimeOrNull(cell, context))).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect(readTimeOrNull("2026-01-31", context)).toBe(1_769_817_600);
});

const delay = (text: string): number => parseDelay(text, "--delay", { now: NOW, zone: "UTC" });

describe("a delay", () => {
  it.each([
    ["90", 90],
    ["2h", 7200],
    ["now", 0],
    ["tomorrow", 41_104],
    ["2026-02-01T13:00Z", 1504],
    ["+2h", 7200],
    ["today 13:00", 1504],
    ["tomorrow 9:00", 73_504],
    ["monday 9:00", 73_504],
    ["sunday", 559_504],
    ["sunday 13:00", 1504],
  ])("when it is %s, then it is %i seconds", (text, seconds) => {
    expect(delay(text)).toBe(seconds);
  });

  it("when it is a time that has passed, then it is refused", () => {
    expect(() => delay("yesterday")).toThrow('--delay: "yesterday" is not a time in the future');
    expect(() => delay("today 12:00")).toThrow('--delay: "today 12:00" is not a time in the future');
    expect(() => delay("last monday")).toThrow('--delay: "last monday" is not a time in the future');
    expect(() => parseFutureTime("2h", "--to", { now: NOW, zone: "UTC" })).toThrow(
      '--to: "2h" is not a time in the future: write +2h',
    );
    expect(() => delay("soon")).toThrow('--delay: "soon" is not a duration such as 90 (seconds)');
  });
});

describe("a delay in a file", () => {
  const context = { now: NOW, zone: "UTC" };

  it.each([
    ["90", 90],
    ["2h", 7200],
    ["Tomorrow", 41_104],
    ["tomorrow 9:00", 73_504],
    ["2026-02-02", 41_104],
    ["2026-02-01T13:00Z", 1504],
    ["yesterday", null],
    ["2026-03", null],
    ["soon", null],
  ])("when it is %s, then it is %s seconds", (text, seconds) => {
    expect(readDelayOrNull(text, context, NOW)).toBe(seconds);
  });

  it("when the run is resumed, then it is what is left until the same moment, and nothing once that has passed", () => {
    expect([3600, 90_000].map((later) => readDelayOrNull("tomorrow", context, NOW + later))).toEqual([37_504, 0]);
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

async function settled(given: string | undefined): Promise<string | undefined> {
  const env: Record<string, string | undefined> = given === undefined ? {} : { TZ: given };
  await settleZone(env);
  return env["TZ"];
}

describe("the variable TZ", () => {
  it.each([
    [undefined, undefined],
    ["", undefined],
    [":", undefined],
    ["localtime", undefined],
    [":/etc/localtime", undefined],
    ["UTC", "UTC"],
    ["Europe/Berlin", "Europe/Berlin"],
    [":Europe/Berlin", "Europe/Berlin"],
    ["europe/berlin", "Europe/Berlin"],
    ["/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"],
    [":/usr/share/zoneinfo/posix/Europe/Berlin", "Europe/Berlin"],
  ])("%j becomes %j", async (given, expected) => {
    expect(await settled(given)).toBe(expected);
  });

  it.each(["Foo/Bar", "CET-1CEST", ":/nowhere", " "])("%j is refused by name", async (given) => {
    await expect(settled(given)).rejects.toThrow(/^TZ: ".*" is not a time zone such as UTC, Europe\/Berlin/);
  });
});
