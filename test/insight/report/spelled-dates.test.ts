import { expect, it } from "vitest";
import { axisNames, spellDates } from "../../../src/insight/report/spelled-dates.ts";

it.each([
  ["2026-05-31", "31 May 2026"],
  ["2026-05", "May 2026"],
  ["2026-W05", "week of 26 Jan 2026"],
  ["2026-W01", "week of 29 Dec 2025"],
  ["2026-Q2", "Q2 2026"],
  ["2026", "2026"],
  ["2026-06-01 – 2026-09-30", "1 Jun – 30 Sep 2026"],
  ["2026-11-29 – 2026-11-29", "29 Nov 2026"],
  ["2025-12-01 – 2026-09-30", "1 Dec 2025 – 30 Sep 2026"],
  ["Since 2026-01-02 12:00:00", "Since 2 Jan 2026 12:00:00"],
  ["from 2025-12 to 2026-01", "from December 2025 to January 2026"],
  ["against the 30 days before", "against the 30 days before"],
  ["2026-13 and 12026-01-011", "2026-13 and 12026-01-011"],
])("%j is read as %j", (text, spelled) => {
  expect(spellDates(text)).toBe(spelled);
});

it.each([
  [
    ["2025-12", "2026-01"],
    ["Dec", "Jan"],
  ],
  [
    ["2025-05", "2025-09", "2026-05"],
    ["May ’25", "Sep ’25", "May ’26"],
  ],
  [
    ["2026-W04", "2026-W05"],
    ["19 Jan", "26 Jan"],
  ],
  [
    ["2025-Q4", "2026-Q4"],
    ["Q4 ’25", "Q4 ’26"],
  ],
  [
    ["2025", "2026"],
    ["2025", "2026"],
  ],
  [["2026-02-28"], ["28 Feb"]],
])("a chart names %j as %j", (labels, names) => {
  expect(axisNames(labels)).toEqual(names);
});
