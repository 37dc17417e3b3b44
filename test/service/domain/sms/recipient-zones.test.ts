import { expect, it } from "vitest";
import { quietUntil } from "../../../../src/service/domain/windows/day.ts";
import { callingCode, recipientZones } from "../../../../src/service/domain/sms/recipient-zones.ts";

const QUIET = { from: 21, to: 8 };
const [BERLIN, LONDON, NEW_YORK] = ["+4917012345678", "+447700900301", "+12125550100"];

/** End of the quiet hours and the zone; `null` if a text can be sent now. */
function quietAt(time: string, number: string, projectZone: string | null, quiet = QUIET): readonly string[] | null {
  const now = Date.parse(time) / 1000;
  const end = quietUntil(now, quiet, recipientZones(number, projectZone, now));
  return end === null ? null : [new Date(end.at * 1000).toISOString().slice(0, 16), end.zone];
}

it.each<[string, string, string | null, readonly string[] | null]>([
  ["2026-07-01T06:30Z", BERLIN, null, null],
  ["2026-07-01T05:30Z", BERLIN, null, ["2026-07-01T06:00", "Europe/Berlin"]],
  // The number's country decides, not the project.
  ["2026-07-01T06:30Z", BERLIN, "America/New_York", null],
  ["2026-07-01T06:30Z", LONDON, "Europe/Berlin", ["2026-07-01T07:00", "Europe/London"]],
  // 4 a.m. in New York. Texts wait until the quiet hours are over in every zone of the country.
  ["2026-07-01T08:00Z", NEW_YORK, null, ["2026-07-01T18:00", "Pacific/Honolulu"]],
  ["2026-07-01T08:00Z", NEW_YORK, "Europe/Berlin", ["2026-07-01T18:00", "Pacific/Honolulu"]],
  ["2026-07-01T19:00Z", NEW_YORK, null, null],
  // A project in the same country sets the zone.
  ["2026-07-01T08:00Z", NEW_YORK, "America/New_York", ["2026-07-01T12:00", "America/New_York"]],
  ["2026-07-01T13:00Z", NEW_YORK, "America/New_York", null],
  ["2026-07-01T13:00Z", NEW_YORK, "US/Eastern", null],
  ["2026-07-01T07:30Z", "+8835100000000", null, ["2026-07-01T08:00", "UTC"]],
])("at %s a text to %s of a project in %s waits until %j", (time, number, zone, end) => {
  expect(quietAt(time, number, zone)).toEqual(end);
});

it("texts still leave if a country has no hour in common", () => {
  const moscow = "+74951234567";
  const hours = Array.from({ length: 24 }, (_, hour) => `2026-07-01T${String(hour).padStart(2, "0")}:00Z`);
  const open = (quiet: typeof QUIET) => hours.filter((time) => quietAt(time, moscow, null, quiet) === null).length;
  expect([open(QUIET), open({ from: 17, to: 9 })]).toEqual([3, 8]);
});

it.each([
  ["+4917012345678", "49"],
  ["+35312345678", "353"],
  ["+12425550100", "1242"],
  ["+12125550100", "1"],
  ["+77012345678", "77"],
  ["+79012345678", "7"],
  ["+99912345678", ""],
])("the calling code of %s is %j", (number, code) => {
  expect(callingCode(number)).toBe(code);
});
