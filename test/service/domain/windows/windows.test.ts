import { expect, test } from "vitest";
import {
  formatDays,
  formatHours,
  isNeverOpen,
  openHours,
  parseDays,
  parseHours,
  toWindow,
} from "../../../../src/service/domain/windows/windows.ts";

test.each([
  ["mon-fri", "mon-fri"],
  ["Monday-Friday", "mon-fri"],
  ["fri-mon", "fri-mon"],
  ["mon,wed,fri", "mon,wed,fri"],
  ["fri, mon", "mon,fri"],
  ["mon,tue,wed", "mon-wed"],
  ["sun", "sun"],
  ["sat-sun", "sat,sun"],
  ["any", "any"],
  ["mon-sun", "any"],
  ["mon-wed,sat", "mon,tue,wed,sat"],
  ["", null],
  ["mo", null],
  ["mon-", null],
  ["mon-tue-wed", null],
  ["mon,,tue", null],
  ["never", null],
])("days %j are %j", (text, days) => {
  const parsed = parseDays(text);
  expect(parsed && formatDays(parsed)).toBe(days);
});

test.each([
  ["5-10", "5-10"],
  ["05-10", "5-10"],
  ["22-6", "22-6"],
  ["0-24", "any"],
  ["any", "any"],
  ["18-24", "18-24"],
  ["22-0", "22-24"],
  ["5-5", null],
  ["24-5", null],
  ["5-25", null],
  ["5", null],
  ["5:30-10", null],
  ["", null],
])("hours %j are %j", (text, hours) => {
  const parsed = parseHours(text);
  expect(parsed && formatHours(parsed)).toBe(hours);
});

test.each([
  ["9-18", 21, 8, [[9, 18]], false],
  ["9-23", 21, 8, [[9, 21]], false],
  ["6-23", 21, 8, [[8, 21]], false],
  ["any", 21, 8, [[8, 21]], false],
  [
    "9-18",
    12,
    14,
    [
      [9, 12],
      [14, 18],
    ],
    false,
  ],
  [
    "18-10",
    21,
    8,
    [
      [18, 21],
      [32, 34],
    ],
    false,
  ],
  ["22-6", 21, 8, [[22, 30]], true],
])("hours %j with quiet hours from %i to %i are open in %j", (hours, from, to, open, isNever) => {
  const window = { ...toWindow("any", hours, "UTC"), quiet: { from, to } };
  expect([openHours(window), isNeverOpen(window)]).toEqual([open, isNever]);
});
