import { describe, expect, it } from "vitest";
import { createTimeFormatter, type TimeFormat } from "../../../src/cli/render/time.ts";

const NOW = 1_767_225_600;
const write = (format: TimeFormat, seconds: number, zone: string | null = "UTC"): string =>
  createTimeFormatter({ format, zone, now: NOW })(seconds);

describe("times as text", () => {
  it.each<[TimeFormat, number, string | null, string]>([
    ["unix", NOW, null, "1767225600"],
    ["iso", NOW, "Asia/Tokyo", "2026-01-01T00:00:00Z"],
    ["iso", -1, null, "1969-12-31T23:59:59Z"],
    ["local", NOW, "UTC", "2026-01-01 00:00:00"],
    ["local", NOW, "Asia/Kolkata", "2026-01-01 05:30:00"],
    ["local", 1_774_745_999, "Europe/Berlin", "2026-03-29 01:59:59"],
    ["local", 1_774_746_000, "Europe/Berlin", "2026-03-29 03:00:00"],
    ["relative", NOW, null, "now"],
    ["relative", NOW - 1, null, "1 second ago"],
    ["relative", NOW - 59, null, "59 seconds ago"],
    ["relative", NOW - 60, null, "1 minute ago"],
    ["relative", NOW - 7_199, null, "1 hour ago"],
    ["relative", NOW + 86_400 * 3, null, "in 3 days"],
    ["relative", NOW - 86_400 * 400, null, "1 year ago"],
    ["iso", 1e300, null, "1e+300"],
    ["iso", 1_767_225_600.5, null, "2026-01-01T00:00:00.500Z"],
  ])("%s of %d in %s is %s", (format, seconds, zone, expected) => {
    expect(write(format, seconds, zone)).toBe(expected);
  });
});
