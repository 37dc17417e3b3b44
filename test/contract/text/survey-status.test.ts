import { expect, it } from "vitest";
import {
  describeSurveyStatus,
  formatSurveyStatus,
  parseSurveyStatus,
  type SurveyStatus,
} from "../../../src/contract/text/survey-status.ts";
import { createWallClock } from "../../../src/runtime/zone.ts";

const at = (text: string): number => Date.parse(text) / 1000;
const [SENT, ENDS] = [at("2026-11-20T12:00:00Z"), at("2026-12-20T12:00:00Z")];
const utc = (seconds: number): number => seconds;

it.each<[SurveyStatus, string, string]>([
  [
    { status: "throttled", since: SENT, until: ENDS },
    "throttled; until=1797768000; since=1795176000",
    "surveyed on 2026-11-20, throttled until 2026-12-20",
  ],
  [
    { status: "throttled", since: SENT, until: SENT + 5400 },
    "throttled; until=1795181400; since=1795176000",
    "surveyed on 2026-11-20 12:00, throttled until 2026-11-20 13:30",
  ],
  [
    { status: "pending", since: null, until: at("2026-11-26T09:00:00Z") },
    "pending; until=1795683600",
    "a survey is already scheduled for 2026-11-26 09:00",
  ],
  [
    { status: "unsubscribed", since: SENT, until: null },
    "unsubscribed; since=1795176000",
    "unsubscribed on 2026-11-20",
  ],
  [{ status: "bounced", since: SENT, until: null }, "bounced; since=1795176000", "bounced on 2026-11-20"],
  [{ status: "unreachable", since: null, until: null }, "unreachable", "no address on this channel"],
  [{ status: "paused", since: SENT, until: null }, "paused; since=1795176000", "paused since 2026-11-20 12:00"],
  [
    { status: "paused", since: SENT, until: at("2026-11-26T09:00:00Z") },
    "paused; until=1795683600; since=1795176000",
    "paused since 2026-11-20 12:00, and a survey is scheduled for 2026-11-26 09:00",
  ],
  [{ status: "paused", since: null, until: null }, "paused", "Autopilot is inactive"],
])("when a survey is %j, then the header is %j, it is read again, and people read %j", (status, header, words) => {
  expect([formatSurveyStatus(status), parseSurveyStatus(header), describeSurveyStatus(status, utc)]).toEqual([
    header,
    status,
    words,
  ]);
});

it("when the zone is another, then days and times are those of its clock", () => {
  const status = { status: "throttled", since: at("2026-11-20T23:30:00Z"), until: at("2026-12-20T23:30:00Z") } as const;
  expect(describeSurveyStatus(status, (seconds) => seconds + 3600)).toBe(
    "surveyed on 2026-11-21, throttled until 2026-12-21",
  );
});

it.each([
  [Date.UTC(12_345, 1, 3, 9) / 1000, "+012345-02-03 09:00"],
  [8.64e12, "+275760-09-13 00:00"],
  [20_000_000_000_000, "20000000000000"],
])("when %d is further off than four digits of a year, then it is %s", (until, words) => {
  const describe = (status: "pending" | "throttled", zone: string): string =>
    describeSurveyStatus({ status, since: null, until }, createWallClock(zone));
  expect(describe("pending", "UTC")).toBe(`a survey is already scheduled for ${words}`);
  expect(describe("throttled", "UTC")).toBe(`throttled until ${words.split(" ")[0]}`);
  expect(describe("throttled", "Pacific/Kiritimati")).toMatch(/^throttled until (?:\+\d{6}-\d\d-\d\d|\d{14})$/);
});

it.each(["", "late", "until=5", "Throttled"])("when a header says %j, then it says nothing", (header) => {
  expect(parseSurveyStatus(header)).toBeNull();
});

it("when a time cannot be read, then the status stands without it", () => {
  expect(parseSurveyStatus("throttled; until=soon; since=1")).toEqual({ status: "throttled", since: 1, until: null });
});
