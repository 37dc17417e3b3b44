import { expect, it } from "vitest";
import { readMoment } from "../../../src/runtime/calendar/read-moment.ts";

const iso = (text: string, zone = "UTC"): string | null => {
  const at = readMoment(text, zone);
  return at === null ? null : new Date(at * 1000).toISOString().replace(".000Z", "Z");
};

it.each([
  "1769848200",
  "1769848200000",
  "1769848200.0",
  "1769848200.75",
  "2026-01-31 08:30",
  "2026-01-31T08:30:00Z",
  "2026-01-31T08:30:00.123Z",
  "2026-01-31 08:30:00+00",
  "2026-01-31 10:30:00.5+02",
  "2026-01-31 14:00:00+0530",
  "2026-01-31 14:00:00+05:30",
  "2026-01-31 08:30:00 UTC",
  "2026-01-31 08:30:00.123456 UTC",
  "2026-01-31 08:30:00 GMT",
  "2026-01-31 08:30:00 +0000 UTC",
  "2026/01/31 08:30:00 UTC",
])("%s is 2026-01-31 08:30 UTC", (text) => {
  expect(iso(text)).toBe("2026-01-31T08:30:00Z");
});

it("a time without a zone, and a day, are those of the zone's clock", () => {
  expect(iso("2026-07-01 10:00", "Europe/Berlin")).toBe("2026-07-01T08:00:00Z");
  expect(iso("2026/07/01", "Europe/Berlin")).toBe("2026-06-30T22:00:00Z");
});

it("small numbers are Unix seconds", () => {
  expect(iso("7")).toBe("1970-01-01T00:00:07Z");
});

it.each(["2026", "20260131", "46053", "46053.354", "1.5"])("%s is no Unix time of 1970", (text) => {
  expect(iso(text)).toBe(null);
});

it.each([
  "",
  "2026-02-30",
  "2026-01/31",
  "2026-01-31 24:00",
  "2026-01-31 08:30:60",
  "2026-01-31 08:30+24",
  "1790848800000000",
])("%j is no time", (text) => {
  expect(readMoment(text, "UTC")).toBe(null);
});
