import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SendInput } from "../../../../src/service/domain/inputs.ts";
import { explainPerson, pauseSending } from "../../../../src/service/domain/delivery/oversight.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { deletePerson, sendPerson } from "../../../../src/service/domain/people/people.ts";
import { recordBounce, stopTexts, unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import { setThrottle } from "../../../../src/service/domain/projects/projects.ts";
import { addMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { listSurveyStatuses } from "../../../../src/service/domain/surveys/survey-statuses.ts";
import { pruneUnscheduled } from "../../../../src/service/domain/delivery/oversight.ts";
import { claimAll, DAY, type Fixture, memberInput, openFixture, sendInput, START } from "../fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const send = (given: Partial<SendInput>) => fixture.write((tx) => sendPerson(tx, fixture.project, sendInput(given)));
const statusOf = async (given: Partial<SendInput>) => (await send(given)).status;
const explained = (address: string) => fixture.read((tx) => explainPerson(tx, fixture.project, address));
const kept = async (address: string) =>
  (await explained(address)).unscheduled.map(({ at, channel, status }) => ({ at, channel, ...status }));
const asked = (people: readonly Partial<SendInput>[]) =>
  fixture.read((tx) => listSurveyStatuses(tx, fixture.project, people.map(sendInput)));

async function deliver(): Promise<void> {
  for (const due of await fixture.write(claimAll))
    await fixture.write((tx) => finishDelivery(tx, due, { kind: "sent" }));
}

const NONE = { since: null, until: null };

describe("the reason", () => {
  test("when a survey is scheduled, then there is none, and nothing is kept", async () => {
    expect([await statusOf({ email: "a@x.co" }), await kept("a@x.co")]).toEqual([null, []]);
  });

  test("when none is wanted, then there is none", async () => {
    await send({ email: "a@x.co" });
    expect([await statusOf({ email: "a@x.co", send: false }), await kept("a@x.co")]).toEqual([null, []]);
  });

  test("when a survey waits, then it is that one, and when it is due", async () => {
    await send({ email: "a@x.co", delaySeconds: 60 });
    const status = { status: "pending", since: null, until: START + 60 };
    expect(await asked([{ email: "A@x.co" }])).toEqual([status]);
    expect(await statusOf({ email: "a@x.co" })).toEqual(status);
    expect(await kept("a@x.co")).toEqual([{ at: START, channel: "email", ...status }]);
  });

  test("when a member's next survey is due within the throttle, then it is that one; later, none", async () => {
    for (const personEmail of ["a@x.co", "b@x.co"])
      await fixture.write((tx) => addMember(tx, fixture.project, memberInput({ personEmail })));
    await deliver();
    const next = START + 90 * DAY;
    fixture.time.now = next - 30 * DAY;
    expect([await asked([{ email: "a@x.co" }]), await statusOf({ email: "a@x.co" })]).toEqual([[null], null]);
    fixture.time.now += 1;
    const status = { status: "pending", since: null, until: next };
    expect([await asked([{ email: "b@x.co" }]), await statusOf({ email: "b@x.co" })]).toEqual([[status], status]);
  });

  test("when a survey is delayed until less than the throttle before a member's next one, then it is that one", async () => {
    await fixture.write((tx) => addMember(tx, fixture.project, memberInput({ personEmail: "a@x.co" })));
    await deliver();
    const next = START + 90 * DAY;
    fixture.time.now = next - 59 * DAY;
    const status = { status: "pending", since: null, until: next };
    const delays = [65 * DAY, 29 * DAY + 1, 29 * DAY];
    expect(await asked(delays.map((delaySeconds) => ({ email: "a@x.co", delaySeconds })))).toEqual([
      status,
      status,
      null,
    ]);
    expect(await statusOf({ email: "a@x.co", delaySeconds: 65 * DAY })).toEqual(status);
    expect(await statusOf({ email: "a@x.co", delaySeconds: 29 * DAY + 1 })).toEqual(status);
    expect(await statusOf({ email: "a@x.co", delaySeconds: 29 * DAY })).toBeNull();
  });

  test("when a survey outside Autopilot waits behind a member's next one, then it is that, however far off", async () => {
    await send({ email: "a@x.co", delaySeconds: 300 * DAY });
    await fixture.write((tx) => addMember(tx, fixture.project, memberInput({ personEmail: "a@x.co" })));
    await deliver();
    fixture.time.now += 31 * DAY;
    const status = { status: "pending", since: null, until: START + 300 * DAY };
    expect([await asked([{ email: "a@x.co" }]), await statusOf({ email: "a@x.co" })]).toEqual([[status], status]);
  });

  test("when one was sent, then it is the throttle, up to its last second", async () => {
    await send({ email: "a@x.co" });
    await deliver();
    const status = { status: "throttled", since: START, until: START + 30 * DAY };
    fixture.time.now = START + 30 * DAY - 1;
    expect(await asked([{ email: "a@x.co" }])).toEqual([status]);
    expect(await statusOf({ email: "a@x.co" })).toEqual(status);
    fixture.time.now += 1;
    expect(await asked([{ email: "a@x.co" }])).toEqual([null]);
    expect(await statusOf({ email: "a@x.co" })).toBeNull();
  });

  test("when the call itself says that one was sent, then that counts for somebody new, too", async () => {
    const person = { email: "a@x.co", lastSentAt: START - DAY };
    const status = { status: "throttled", since: START - DAY, until: START + 29 * DAY };
    expect(await asked([person])).toEqual([status]);
    expect(await statusOf(person)).toEqual(status);
    expect(await kept("a@x.co")).toHaveLength(1);
    await fixture.write((tx) => setThrottle(tx, fixture.project, null));
    expect([await asked([person]), await statusOf(person)]).toEqual([[null], null]);
  });

  test("when a person has left, bounced, texted STOP or has no address, then it is that", async () => {
    await send({ email: "left@x.co", send: false });
    await fixture.write((tx) => unsubscribe(tx, fixture.project, "left@x.co"));
    const bounced = await send({ email: "bounced@x.co", phoneNumber: "+14155550100", send: false });
    await fixture.write((tx) => recordBounce(tx, fixture.project, Number(bounced.person.id)));
    await fixture.write((tx) => stopTexts(tx, fixture.project, "+14155550101"));
    const people: readonly Partial<SendInput>[] = [
      { email: "left@x.co" },
      { email: "bounced@x.co" },
      { email: "bounced@x.co", phoneNumber: "+14155550100", channel: "sms" },
      { phoneNumber: "+14155550101", channel: "sms" },
      { phoneNumber: "+14155550102" },
    ];
    const expected = [
      { status: "unsubscribed", since: START, until: null },
      { status: "bounced", since: START, until: null },
      null,
      { status: "unsubscribed", since: START, until: null },
      { status: "unreachable", ...NONE },
    ];
    expect(await asked(people)).toEqual(expected);
    const statuses = [];
    for (const person of people) statuses.push(await statusOf(person));
    expect(statuses).toEqual(expected);
  });

  test("when an address was suppressed before its person came back, then it is that", async () => {
    await send({ email: "a@x.co", send: false });
    await fixture.write((tx) => unsubscribe(tx, fixture.project, "a@x.co"));
    await fixture.write((tx) => deletePerson(tx, fixture.project, { by: "email", email: "a@x.co" }));
    const status = { status: "unsubscribed", since: START, until: null };
    expect(await asked([{ email: "a@x.co" }])).toEqual([status]);
    expect(await statusOf({ email: "a@x.co" })).toEqual(status);
  });

  test.each([true, false])(
    "when all is paused, %s, or the project, then a survey is scheduled and waits",
    async (all) => {
      await fixture.write((tx) => pauseSending(tx, all ? null : fixture.project));
      const status = { status: "paused", since: START, until: null };
      expect(await asked([{ email: "a@x.co" }])).toEqual([status]);
      const sent = await send({ email: "a@x.co" });
      expect([sent.person.survey_scheduled_at, sent.status, await kept("a@x.co")]).toEqual([START, status, []]);
    },
  );

  test("when a number belongs to another person, then the question has no answer, and no error", async () => {
    await send({ email: "a@x.co", phoneNumber: "+14155550100", send: false });
    expect(await asked([{ email: "b@x.co", phoneNumber: "+14155550100" }])).toEqual([null]);
  });

  test("when somebody who left is added to Autopilot, then it is that, and is kept", async () => {
    await send({ email: "a@x.co", send: false });
    await fixture.write((tx) => unsubscribe(tx, fixture.project, "a@x.co"));
    const { status } = await fixture.write((tx) =>
      addMember(tx, fixture.project, memberInput({ personEmail: "a@x.co" })),
    );
    expect([status, await kept("a@x.co")]).toEqual([
      { status: "unsubscribed", since: START, until: null },
      [{ at: START, channel: "email", status: "unsubscribed", since: START, until: null }],
    ]);
  });
});

describe("what is kept", () => {
  test("when there was no survey, then the history says why; when there was one, it says both", async () => {
    await send({ email: "a@x.co", lastSentAt: Date.parse("2025-06-10T12:00:00Z") / 1000 });
    expect((await explained("a@x.co")).explanation).toBe(
      "No survey was scheduled: surveyed on 2025-06-10, throttled until 2025-07-10.",
    );
    await send({ email: "b@x.co" });
    await deliver();
    fixture.time.now += DAY;
    await send({ email: "b@x.co" });
    expect((await explained("b@x.co")).explanation).toMatch(
      /^The newest survey \(\d+\) is sent\. The last one that was asked for was not scheduled: surveyed on 2025-06-15, throttled until 2025-07-15\.$/,
    );
  });

  test("when it is older than 400 days, then it goes, and when its person is deleted", async () => {
    const lately = START - DAY;
    for (const email of ["a@x.co", "b@x.co"]) await send({ email, lastSentAt: lately });
    fixture.time.now += 400 * DAY;
    expect(await fixture.write((tx) => pruneUnscheduled(tx, 10))).toBe(false);
    expect(await kept("a@x.co")).toHaveLength(1);
    await fixture.write((tx) => deletePerson(tx, fixture.project, { by: "email", email: "b@x.co" }));
    fixture.time.now += 1;
    expect(await fixture.write((tx) => pruneUnscheduled(tx, 1))).toBe(true);
    expect(await fixture.write((tx) => pruneUnscheduled(tx, 1))).toBe(false);
    expect(await kept("a@x.co")).toEqual([]);
  });
});
