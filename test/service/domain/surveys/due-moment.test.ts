import { expect, test } from "vitest";
import { parseDuration } from "../../../../src/cli/args/values.ts";
import { createWallClock } from "../../../../src/runtime/zone.ts";
import { dueMoment, type Start } from "../../../../src/service/domain/surveys/due-moment.ts";
import { toWindow } from "../../../../src/service/domain/windows/windows.ts";

const DAY = 86_400;

interface Extra {
  readonly number?: number;
  readonly isSpread?: boolean;
  readonly askedAt?: string;
  readonly notBefore?: string;
  readonly now?: string;
}

const seconds = (text: string): number => Date.parse(`${text.replace(/Z$/, "")}Z`) / 1000;
const maybe = (text: string | undefined): number | null => (text === undefined ? null : seconds(text));

function startOf(kind: string, at: number, { isSpread = true, askedAt }: Extra): Start {
  if (kind === "join") return { kind, at, isSpread, askedAt: maybe(askedAt) };
  return { kind: kind === "resume" ? kind : "after", at };
}

type Row = [name: string, settings: string, start: string, due: string, extra?: Extra];

// Times are UTC and were checked against a quarter-hour simulation.
test.each<Row>([
  ["90 days after, from a Wednesday", "UTC mon-fri 5-10 90d", "after 2026-11-25T07:00:00", "2027-02-23T08:25:43"],
  ["from a Monday's first second", "UTC mon-fri 5-10 90d", "after 2026-11-23T05:00:00", "2027-02-19T06:25:43"],
  ["from a Friday's last second", "UTC mon-fri 5-10 90d", "after 2026-11-27T09:59:59", "2027-02-26T06:25:42"],
  [
    "from the second at which the window closes",
    "UTC mon-fri 5-10 90d",
    "after 2026-11-27T10:00:00",
    "2027-02-26T06:25:43",
  ],
  ["from a Sunday", "UTC mon-fri 5-10 90d", "after 2026-11-29T20:00:00", "2027-02-26T06:25:43"],
  ["the window is always open", "UTC any any 90d", "after 2026-11-29T20:00:00", "2027-02-27T20:00:00"],
  ["every day from 9 to 18", "UTC any 9-18 30d", "after 2026-11-29T20:00:00", "2026-12-30T09:00:00"],
  ["two days a week", "UTC tue,thu 8-9 30d", "after 2026-11-24T08:30:00", "2026-12-24T08:04:17"],
  ["one hour a week", "UTC wed 8-9 28d", "after 2026-11-25T08:15:00", "2026-12-23T08:15:00"],
  ["over midnight, after it", "UTC fri 22-6 28d", "after 2026-11-28T03:00:00", "2026-12-26T03:00:00"],
  ["over midnight, before it", "UTC fri 22-6 28d", "after 2026-11-27T23:00:00", "2026-12-25T23:00:00"],
  ["over midnight every day", "UTC any 22-6 14d", "after 2026-11-27T12:00:00", "2026-12-11T22:00:00"],
  ["a weekend's window", "UTC sat,sun 10-12 14d", "after 2026-11-28T11:00:00", "2026-12-12T11:00:00"],
  ["exactly 14 days: open time", "UTC mon-fri 5-10 14d", "after 2026-11-25T07:00:00", "2026-12-09T07:00:00"],
  [
    "one second less than 14 days: the calendar",
    "UTC mon-fri 5-10 1209599s",
    "after 2026-11-25T07:00:00",
    "2026-12-09T06:59:59",
  ],
  ["a week, by the calendar", "UTC mon-fri 5-10 7d", "after 2026-11-25T07:00:00", "2026-12-02T07:00:00"],
  ["a day, by the calendar, on to Monday", "UTC mon-fri 5-10 1d", "after 2026-11-27T07:00:00", "2026-11-30T05:00:00"],
  ["an hour, past the end of the window", "UTC mon-fri 5-10 3600s", "after 2026-11-25T09:30:00", "2026-11-26T05:00:00"],
  ["a second", "UTC mon-fri 5-10 1s", "after 2026-11-25T07:00:00", "2026-11-25T07:00:01"],
  ["a second at the window's end", "UTC mon-fri 5-10 1s", "after 2026-11-25T09:59:59", "2026-11-26T05:00:00"],
  ["a year", "UTC mon-fri 5-10 365d", "after 2026-11-25T07:00:00", "2027-11-25T05:34:17"],
  ["100 years", "UTC mon-fri 5-10 36500d", "after 2026-11-25T07:00:00", "2126-10-31T09:08:34"],
  ["over a leap day", "UTC any any 30d", "after 2028-02-10T12:00:00", "2028-03-11T12:00:00"],
  ["on a leap day", "UTC mon-fri 5-10 28d", "after 2028-02-01T07:00:00", "2028-02-29T07:00:00"],
  ["over the leap day of a century", "UTC any 5-10 30d", "after 2000-02-10T06:00:00", "2000-03-11T06:00:00"],
  [
    "Berlin, over the change to winter",
    "Europe/Berlin mon-fri 5-10 90d",
    "after 2026-09-01T04:00:00",
    "2026-11-30T06:25:43",
  ],
  [
    "Berlin, over the change to summer",
    "Europe/Berlin mon-fri 5-10 90d",
    "after 2027-02-01T05:00:00",
    "2027-04-30T05:25:43",
  ],
  [
    "Berlin, an hour that does not exist",
    "Europe/Berlin sun 2-3 28d",
    "after 2027-03-14T01:00:00",
    "2027-04-18T00:00:00",
  ],
  [
    "Berlin, an hour that exists twice",
    "Europe/Berlin sun 2-3 28d",
    "after 2026-10-11T00:00:00",
    "2026-11-01T01:00:00",
  ],
  [
    "Berlin, in the second of the two hours",
    "Europe/Berlin sun 2-3 14d",
    "after 2026-10-18T00:30:00",
    "2026-10-25T01:30:00",
  ],
  ["Berlin, open over the lost hour", "Europe/Berlin any any 28d", "after 2027-03-20T12:00:00", "2027-04-17T12:00:00"],
  [
    "New York, over the change to winter",
    "America/New_York mon-fri 5-10 90d",
    "after 2026-09-01T10:00:00",
    "2026-11-30T12:25:43",
  ],
  [
    "New York, over the change to summer",
    "America/New_York mon-fri 5-10 90d",
    "after 2027-01-15T11:00:00",
    "2027-04-15T11:25:43",
  ],
  [
    "New York, the calendar lands in the lost hour",
    "America/New_York any 2-3 1d",
    "after 2027-03-13T07:30:00",
    "2027-03-15T06:00:00",
  ],
  [
    "Auckland, whose Monday is UTC's Sunday",
    "Pacific/Auckland mon-fri 5-10 90d",
    "after 2026-11-29T17:00:00",
    "2027-02-25T18:25:43",
  ],
  [
    "Honolulu, which keeps its clock",
    "Pacific/Honolulu mon-fri 5-10 90d",
    "after 2026-11-25T16:00:00",
    "2027-02-23T17:25:43",
  ],
  ["Kolkata, half an hour off", "Asia/Kolkata mon-fri 5-10 90d", "after 2026-11-25T01:00:00", "2027-02-23T02:25:43"],
  ["Kathmandu, a quarter off", "Asia/Kathmandu mon-fri 9-18 30d", "after 2026-11-25T06:00:00", "2026-12-24T09:51:26"],
  [
    "Lord Howe, which moves by half an hour",
    "Australia/Lord_Howe any 1-3 28d",
    "after 2026-09-20T15:00:00",
    "2026-10-18T15:00:00",
  ],
  ["Tokyo", "Asia/Tokyo mon-fri 5-10 60d", "after 2026-11-25T00:00:00", "2027-01-24T23:17:09"],
  ["first, spread: member 1", "UTC mon-fri 5-10 90d", "join 2026-11-25T07:00:00", "2027-01-20T05:39:14", { number: 1 }],
  ["first, spread: member 2", "UTC mon-fri 5-10 90d", "join 2026-11-25T07:00:00", "2026-12-16T07:52:44", { number: 2 }],
  ["first, spread: member 3", "UTC mon-fri 5-10 90d", "join 2026-11-25T07:00:00", "2027-02-10T06:31:58", { number: 3 }],
  [
    "first, spread: member 1,000",
    "UTC mon-fri 5-10 90d",
    "join 2026-11-25T07:00:00",
    "2026-11-27T07:55:30",
    { number: 1000 },
  ],
  [
    "first, spread: member 1,000,000",
    "UTC mon-fri 5-10 90d",
    "join 2026-11-25T07:00:00",
    "2027-02-22T09:48:45",
    { number: 1000000 },
  ],
  [
    "first, spread, at night on a Sunday",
    "America/New_York mon-fri 5-10 90d",
    "join 2026-11-30T04:00:00",
    "2026-12-07T13:59:00",
    { number: 5 },
  ],
  [
    "first, spread over a week, by the calendar",
    "UTC mon-fri 5-10 7d",
    "join 2026-11-25T07:00:00",
    "2026-11-30T05:00:00",
    { number: 1 },
  ],
  [
    "first, spread over a second",
    "UTC mon-fri 5-10 1s",
    "join 2026-11-25T07:00:00",
    "2026-11-25T07:00:01",
    { number: 1 },
  ],
  [
    "first, now, in the window",
    "UTC mon-fri 5-10 90d",
    "join 2026-11-25T07:00:00",
    "2026-11-25T07:00:00",
    { isSpread: false },
  ],
  [
    "first, now, at night",
    "UTC mon-fri 5-10 90d",
    "join 2026-11-25T22:00:00",
    "2026-11-26T05:00:00",
    { isSpread: false },
  ],
  [
    "first, now, on a Saturday",
    "Europe/Berlin mon-fri 5-10 90d",
    "join 2026-11-28T12:00:00",
    "2026-11-30T04:00:00",
    { isSpread: false },
  ],
  [
    "asked a week ago",
    "UTC mon-fri 5-10 90d",
    "join 2026-11-25T07:00:00",
    "2027-02-16T08:25:43",
    { askedAt: "2026-11-18T07:00:00Z" },
  ],
  [
    "asked a week ago, first now",
    "UTC mon-fri 5-10 90d",
    "join 2026-11-25T07:00:00",
    "2027-02-16T08:25:43",
    { askedAt: "2026-11-18T07:00:00Z", isSpread: false },
  ],
  [
    "asked one second less than an interval ago",
    "UTC mon-fri 5-10 90d",
    "join 2026-11-25T07:00:00",
    "2026-11-25T08:25:44",
    { askedAt: "2026-08-27T07:00:01Z", isSpread: false },
  ],
  [
    "asked exactly an interval ago",
    "UTC mon-fri 5-10 90d",
    "join 2026-11-25T07:00:00",
    "2026-11-25T07:00:00",
    { askedAt: "2026-08-27T07:00:00Z", isSpread: false },
  ],
  [
    "asked in the future, says an import",
    "UTC mon-fri 5-10 90d",
    "join 2026-11-25T07:00:00",
    "2027-04-09T06:25:43",
    { askedAt: "2027-01-10T12:00:00Z" },
  ],
  [
    "asked yesterday, a weekly platform",
    "UTC mon-fri 5-10 7d",
    "join 2026-11-25T07:00:00",
    "2026-12-01T07:00:00",
    { askedAt: "2026-11-24T07:00:00Z" },
  ],
  [
    "resumed, spread over a week of the window",
    "UTC mon-fri 5-10 90d",
    "resume 2026-11-25T07:00:00",
    "2026-11-30T07:27:03",
    { number: 1 },
  ],
  ["resumed, a daily platform", "UTC any any 1d", "resume 2026-11-25T07:00:00", "2026-11-25T12:39:56", { number: 2 }],
  [
    "not before a Saturday",
    "UTC mon-fri 5-10 30d",
    "after 2026-11-25T07:00:00",
    "2027-01-11T05:00:00",
    { notBefore: "2027-01-09T12:00:00Z" },
  ],
  [
    "not before a day that is sooner anyway",
    "UTC mon-fri 5-10 30d",
    "after 2026-11-25T07:00:00",
    "2026-12-24T09:08:34",
    { notBefore: "2026-12-01T12:00:00Z" },
  ],
  [
    "overdue: the next open moment",
    "UTC mon-fri 5-10 30d",
    "after 2026-01-05T07:00:00",
    "2026-11-30T05:00:00",
    { now: "2026-11-28T07:00:00Z" },
  ],
])("%s (%s, %s)", (_, settings, given, due, extra = {}) => {
  const [zone = "", days = "", hours = "", frequency = ""] = settings.split(" ");
  const [kind = "", from = ""] = given.split(" ");
  const at = seconds(from);
  const moment = dueMoment({
    start: startOf(kind, at, extra),
    number: extra.number ?? 1,
    notBefore: maybe(extra.notBefore),
    frequency: parseDuration(frequency, "frequency"),
    window: toWindow(days, hours, zone),
    now: maybe(extra.now) ?? at,
  });
  expect(new Date(moment * 1000).toISOString().slice(0, 19)).toBe(due);
});

test("when 1,000 join at once, then they are asked evenly over the window's days and hours, round after round", () => {
  const window = toWindow("mon-fri", "5-10", "Europe/Berlin");
  const wallClock = createWallClock("Europe/Berlin");
  const now = seconds("2026-11-24T20:00:00");
  const facts = { notBefore: null, frequency: 90 * DAY, window, now };
  const numbers = Array.from({ length: 1000 }, (__, at) => at + 1);
  let due = numbers.map((number) =>
    dueMoment({ ...facts, number, start: { kind: "join", at: now, isSpread: true, askedAt: null } }),
  );
  for (let round = 1; round <= 5; round += 1) {
    const walls = due.map((at) => new Date(wallClock(at) * 1000));
    expect(spreadOf(walls.map((wall) => wall.getUTCDay()))).toMatchObject({ kinds: "1,2,3,4,5" });
    expect(spreadOf(walls.map((wall) => wall.getUTCDay())).away).toBeLessThan(0.1);
    expect(spreadOf(walls.map((wall) => wall.getUTCHours()))).toMatchObject({ kinds: "5,6,7,8,9" });
    expect(spreadOf(walls.map((wall) => wall.getUTCHours())).away).toBeLessThan(0.15);
    const next = due.map((at) => dueMoment({ ...facts, number: 1, start: { kind: "after", at }, now: at }));
    expect(Math.max(...next.map((at, index) => (due[index] ?? 0) + 90 * DAY - at))).toBeLessThan(3 * DAY);
    due = next;
  }
});

test("when a window has quiet hours, then its clock stands still in them", () => {
  const window = { ...toWindow("any", "9-23", "Europe/Berlin"), quiet: { from: 21, to: 8 } };
  const dueAfter = (at: string, days: number): string => {
    const start: Start = { kind: "after", at: seconds(at) };
    const facts = { start, number: 1, notBefore: null, frequency: days * DAY, window, now: seconds(at) };
    return new Date(dueMoment(facts) * 1000).toISOString().slice(0, 19);
  };
  // 12 open hours a day: the same time two weeks later, or the next opening.
  expect(dueAfter("2026-11-25T10:00:00", 14)).toBe("2026-12-09T10:00:00");
  expect(dueAfter("2026-11-25T21:00:00", 14)).toBe("2026-12-10T08:00:00");
  expect(dueAfter("2026-11-25T19:59:59", 14)).toBe("2026-12-09T19:59:59");
  expect(dueAfter("2026-11-25T20:30:00", 1)).toBe("2026-11-27T08:00:00");
});

function spreadOf(kinds: readonly number[]): { kinds: string; away: number } {
  const counts = new Map<number, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const mean = kinds.length / counts.size;
  const away = Math.max(...[...counts.values()].map((count) => Math.abs(count - mean) / mean));
  return { kinds: [...counts.keys()].toSorted((one, other) => one - other).join(), away };
}
