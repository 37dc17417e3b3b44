import { afterEach, beforeEach, expect, test } from "vitest";
import { changeSettings } from "../../../../src/service/domain/projects/settings.ts";
import { addMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { configureAutopilot } from "../../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { getAutopilotWithJoining } from "../../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { DAY, type Fixture, memberInput, openFixture } from "../fixture.ts";

/** A Tuesday evening. */
const NOW = Date.parse("2026-11-24T20:00:00Z") / 1000;
const COUNT = 300;

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
  fixture.time.now = NOW;
});
afterEach(() => fixture.store.close());

const foresee = (count: number) =>
  fixture.read(async (tx) => (await getAutopilotWithJoining(tx, fixture.project, "email", count)).joining);
const configure = (change: Parameters<typeof configureAutopilot>[3]) =>
  fixture.write((tx) => configureAutopilot(tx, fixture.project, "email", change));
const join = (from: number, count: number) =>
  fixture.write(async (tx) => {
    const moments: number[] = [];
    for (let n = from; n < from + count; n += 1) {
      const { member } = await addMember(tx, fixture.project, memberInput({ personEmail: `p${n}@x.co` }));
      moments.push(member.survey_scheduled_at ?? 0);
    }
    return moments.toSorted((one, other) => one - other);
  });

test("when people are about to join, then the first and the last of their surveys are foreseen as they come", async () => {
  await configure({ first: "spread", days: "mon-fri", hours: "5-10" });
  await fixture.write((tx) => changeSettings(tx, fixture.project, { timeZone: "Europe/Berlin" }));
  await join(0, 7);
  const joining = await foresee(COUNT);
  const moments = await join(7, COUNT);
  expect(joining).toEqual({
    first_survey_at: moments[0],
    last_survey_at: moments.at(-1),
    per_day: 5,
    days: "mon-fri",
  });
  expect(await foresee(10_000)).toMatchObject({ per_day: 156 });
  expect(await foresee(1e9)).toMatchObject({ per_day: 15_555_556 });
});

test("when first surveys are not spread, then all are foreseen for the next open moment", async () => {
  await configure({ first: "now", days: "wed", hours: "9-10", frequency: 90 * DAY });
  const at = Date.parse("2026-11-25T09:00:00Z") / 1000;
  expect(await foresee(20)).toEqual({ first_survey_at: at, last_survey_at: at, per_day: 20, days: "wed" });
  expect(await join(0, 20)).toEqual(Array.from({ length: 20 }, () => at));
});
