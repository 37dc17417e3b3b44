import { afterEach, beforeEach, expect, test } from "vitest";
import type { SendInput } from "../../../../src/service/domain/inputs.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { getPerson } from "../../../../src/service/domain/people/person-details.ts";
import { configureAutopilot } from "../../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { addMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { type Reschedule, rescheduleSurvey } from "../../../../src/service/domain/surveys/reschedule.ts";
import { claimAll, DAY, type Fixture, memberInput, membersQuery, openFixture, START } from "../fixture.ts";
import { listMembers } from "../lists.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const email = "ada@x.co";
const send = (given: Partial<SendInput> = {}) => fixture.send({ email, delaySeconds: DAY, ...given });
const enrol = () => fixture.write((tx) => addMember(tx, fixture.project, memberInput({ personEmail: email })));
const move = (scheduledAt: number, which: Partial<Reschedule> = {}) =>
  fixture.write((tx) =>
    rescheduleSurvey(
      tx,
      fixture.project,
      { by: "email", email },
      { channel: null, survey: null, scheduledAt, ...which },
    ),
  );
const get = () => fixture.read((tx) => getPerson(tx, fixture.project, { by: "email", email }));
const claimed = async (): Promise<object[]> =>
  (await fixture.write(claimAll)).map(({ scheduledAt, properties }) => ({ scheduledAt, properties }));

test("a survey leaves at its new time, with its properties", async () => {
  await send({ properties: { plan: "pro", service_intro_message: "Hello" } });
  await send({ send: false, properties: { plan: "free" } });
  const moved = await move(START + 5 * DAY);
  expect(moved).toMatchObject({
    channel: "email",
    autopilot: false,
    state: "scheduled",
    scheduled_at: START + 5 * DAY,
  });
  expect((await get()).next_survey_scheduled_at).toBe(START + 5 * DAY);
  fixture.time.now += 4 * DAY;
  expect(await claimed()).toEqual([]);
  await move(fixture.time.now + 60);
  fixture.time.now += 60;
  expect(await claimed()).toEqual([
    { scheduledAt: START + 4 * DAY + 60, properties: { plan: "pro", service_intro_message: "Hello" } },
  ]);
});

test("the time must not have passed, and a minute of difference between clocks is no reason to refuse", async () => {
  await send();
  await expect(move(START - 61)).rejects.toMatchObject({ errors: { scheduled_at: ["is in the past"] } });
  expect((await move(START - 60)).scheduled_at).toBe(START);
});

test("a survey that has left, or is being sent, doesn't wait", async () => {
  await expect(move(START + DAY)).rejects.toMatchObject({ name: "NotFoundError" });
  await send({ delaySeconds: 0 });
  const gone = { errors: { person: ["has no such survey that waits"] } };
  const [due] = await fixture.write(claimAll);
  await expect(move(START + DAY)).rejects.toMatchObject(gone);
  await fixture.write((tx) => finishDelivery(tx, due!, { kind: "sent" }));
  await expect(move(START + DAY)).rejects.toMatchObject(gone);
});

test("one that waits to be tried again, or for the operator, waits for its new time instead", async () => {
  await send({ delaySeconds: 0 });
  for (const [outcome, shown] of [
    [{ kind: "retry", delaySeconds: 60 }, { state: "retrying" }],
    [
      { kind: "held", reason: "no credit" },
      { state: "held", reason: "no credit" },
    ],
  ] as const) {
    const [due] = await fixture.write(claimAll);
    await fixture.write((tx) => finishDelivery(tx, due!, outcome));
    expect((await get()).surveys).toMatchObject([shown]);
    fixture.time.now += DAY;
    await move(fixture.time.now);
    expect((await get()).surveys).toMatchObject([{ state: "retrying", reason: null, scheduled_at: fixture.time.now }]);
  }
  expect(await claimed()).toHaveLength(1);
});

test("when several wait, then one must be named", async () => {
  await send();
  await fixture.write((tx) => configureAutopilot(tx, fixture.project, "email", { first: "spread" }));
  await enrol();
  const [auto, single] = (await get()).surveys;
  const list = {
    errors: {
      survey: [
        expect.stringMatching(
          /^must be one of \d+ \(email, .*Z, Autopilot\), \d+ \(email, .*Z\); or name the channel$/,
        ),
      ],
    },
  };
  await expect(move(START + DAY)).rejects.toMatchObject(list);
  await expect(move(START + DAY, { channel: "email" })).rejects.toMatchObject(list);
  await expect(move(START + DAY, { channel: "sms" })).rejects.toMatchObject({ errors: { person: expect.anything() } });
  expect(await move(START + 2 * DAY, { survey: single!.id })).toMatchObject({ autopilot: false });
  expect(await move(START + 3 * DAY, { survey: auto!.id })).toMatchObject({ autopilot: true });
  expect((await get()).surveys.map(({ scheduled_at }) => scheduled_at - START)).toEqual([3 * DAY, 2 * DAY]);
});

test("Autopilot's survey moves to the next opening, and stays there when settings change", async () => {
  const configure = (change: object) => fixture.write((tx) => configureAutopilot(tx, fixture.project, "email", change));
  // START is a Sunday, 15:06:40.
  await configure({ first: "spread", days: "mon-fri", hours: "5-10" });
  await enrol();
  const monday5 = Date.UTC(2025, 5, 23, 5) / 1000;
  expect(await move(START + 7 * DAY)).toMatchObject({ autopilot: true, scheduled_at: monday5 });
  const [member] = (await fixture.read((tx) => listMembers(tx, fixture.project, membersQuery()))).rows;
  expect(member).toMatchObject({ next_survey_request: { survey_scheduled_at: monday5 } });
  await configure({ frequency: 30 * DAY, active: false });
  await fixture.store.settle();
  expect(await move(monday5 + DAY)).toMatchObject({ state: "scheduled", reason: "Autopilot is inactive" });
  fixture.time.now = monday5;
  await configure({ active: true, hours: "6-10" });
  await fixture.store.settle();
  expect((await get()).next_survey_scheduled_at).toBe(monday5 + DAY + 3600);
});
