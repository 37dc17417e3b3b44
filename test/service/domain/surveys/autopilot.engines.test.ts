import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { MemberInput } from "../../../../src/service/domain/inputs.ts";
import {
  type ShownAutopilot,
  configureAutopilot,
  keepQuietHours,
} from "../../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { addMember, removeMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { nextDueAt } from "../next-due-at.ts";
import { ALWAYS } from "../../../../src/service/domain/windows/windows.ts";
import { pauseSending } from "../../../../src/service/domain/delivery/oversight.ts";
import { unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import { setThrottle } from "../../../../src/service/domain/projects/projects.ts";
import { cancelSurveys, sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addResponse } from "../../../../src/service/domain/answers/responses.ts";
import {
  claimAll,
  DAY,
  START,
  links,
  memberInput,
  membersQuery,
  openFixture,
  peopleQuery,
  responseInput,
  responsesQuery,
  sendInput,
  type Fixture,
} from "../fixture.ts";
import { listMembers, listPeople, listResponses } from "../lists.ts";
import { claimDue } from "../claim-due.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const add = (given: Partial<MemberInput>) => fixture.write((tx) => addMember(tx, fixture.project, memberInput(given)));
const members = async (given: Parameters<typeof membersQuery>[0] = {}) =>
  (await fixture.read((tx) => listMembers(tx, fixture.project, membersQuery(given)))).rows;
const remove = (email: string) =>
  fixture.write((tx) => removeMember(tx, fixture.project, { platform: "email", reference: { by: "email", email } }));
const configure = (change: Partial<ShownAutopilot>) =>
  fixture.write((tx) => configureAutopilot(tx, fixture.project, "email", change));

async function deliver(): Promise<(string | null)[]> {
  const due = await fixture.write(claimAll);
  for (const survey of due) await fixture.write((tx) => finishDelivery(tx, survey, { kind: "sent" }));
  return due.map(({ person }) => person.email ?? person.phoneNumber);
}

test("when a project is new, then both platforms are active every 90 days", async () => {
  const expected = { active: true, frequency: 90 * DAY, created_at: START, updated_at: START };
  expect(await fixture.read((tx) => tx.autopilot.configuration(fixture.project.id, "email"))).toEqual({
    platform_id: "email",
    ...expected,
  });
  expect(await fixture.read((tx) => tx.autopilot.configuration(fixture.project.id, "sms"))).toEqual({
    platform_id: "sms",
    ...expected,
  });
});

test("when nothing is sent at present, then the one who is added waits, and the status says so", async () => {
  await configure({ active: false });
  const inactive = await add({ personEmail: "a@x.co" });
  await configure({ active: true });
  await fixture.write((tx) => pauseSending(tx, fixture.project));
  fixture.time.now += 60;
  const paused = await add({ personEmail: "b@x.co" });
  expect([inactive, paused].map(({ member, status }) => [member.survey_scheduled_at, status])).toEqual([
    [START, { status: "paused", since: null, until: null }],
    [START + 60, { status: "paused", since: START, until: null }],
  ]);
});

test("when a person is added, then a survey is scheduled now and the membership shows it", async () => {
  const added = await add({ personEmail: "a@x.co", personName: "Ann", properties: { plan: "pro" } });
  const person = { id: "1", name: "Ann", email: "a@x.co", phone_number: null, created_at: START };
  expect(added).toMatchObject({
    member: { person, properties: { plan: "pro" }, survey_scheduled_at: START },
    created: true,
    status: null,
  });
  expect(await members()).toEqual([
    {
      created_at: START,
      updated_at: START,
      person: { ...person, last_sent_at: null },
      next_survey_request: { id: "2", created_at: START, survey_scheduled_at: START, properties: { plan: "pro" } },
    },
  ]);
});

describe("who is added", () => {
  test.each<[string, Partial<MemberInput>, Record<string, string[]>]>([
    ["nobody is named", {}, { person_email: ["can't be blank"] }],
    ["nobody is named for SMS", { platform: "sms" }, { person_phone_number: ["can't be blank"] }],
    ["the person has no e-mail", { personPhoneNumber: "+14155550100" }, { person_email: ["can't be blank"] }],
    ["the person has no phone", { platform: "sms", personId: "1" }, { person_phone_number: ["can't be blank"] }],
    ["the id is unknown", { personId: "99" }, { person_id: ["does not exist"] }],
    [
      "id and e-mail name different people",
      { personId: "1", personEmail: "z@x.co" },
      { person_email: ["is not the e-mail of the person that person_id names"] },
    ],
    [
      "the phone is another's",
      { personEmail: "a@x.co", personPhoneNumber: "+14155550100" },
      { person_phone_number: ["has already been taken"] },
    ],
    [
      "a subject is over-long",
      { personEmail: "a@x.co", properties: { service_email_subject: "x".repeat(151) } },
      { service_email_subject: ["is too long (maximum is 150 characters)"] },
    ],
  ])("when %s, then it is refused", async (_, given, errors) => {
    await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "a@x.co", send: false })));
    await fixture.write((tx) =>
      sendPerson(tx, fixture.project, sendInput({ phoneNumber: "+14155550100", send: false })),
    );
    await expect(add(given)).rejects.toMatchObject({ name: "InvalidError", errors });
    expect(await members({ platform: given.platform ?? "email" })).toEqual([]);
  });

  test("when an id names the person, then e-mail and phone may be left out or added", async () => {
    await fixture.write((tx) =>
      sendPerson(tx, fixture.project, sendInput({ phoneNumber: "+14155550100", send: false })),
    );
    expect((await add({ platform: "sms", personId: "1" })).created).toBe(true);
    expect((await add({ personId: "1", personEmail: "a@x.co" })).member.person).toEqual({
      id: "1",
      name: null,
      email: "a@x.co",
      phone_number: "+14155550100",
      created_at: START,
    });
    expect(await members({ platform: "sms" })).toHaveLength(1);
  });
});

test("when a member is added again with properties, then they replace the old ones on what waits; without, they stay", async () => {
  await add({ personEmail: "a@x.co", properties: { plan: "pro", seats: 1 } });
  fixture.time.now = START + 10;
  expect(await add({ personEmail: "A@x.co" })).toMatchObject({
    member: { properties: { plan: "pro", seats: 1 } },
    created: false,
  });
  expect(await members()).toMatchObject([
    { updated_at: START, next_survey_request: { properties: { plan: "pro", seats: 1 } } },
  ]);
  expect(await add({ personEmail: "a@x.co", properties: { plan: "free" } })).toMatchObject({
    member: { properties: { plan: "free" } },
    created: false,
  });
  expect(await members()).toMatchObject([
    { created_at: START, updated_at: START + 10, next_survey_request: { id: "2", properties: { plan: "free" } } },
  ]);
});

test("when a survey is sent, then the next is scheduled one interval later with the newest properties, over and over", async () => {
  await add({ personEmail: "a@x.co", properties: { plan: "pro" } });
  await fixture.write((tx) =>
    sendPerson(tx, fixture.project, sendInput({ email: "b@x.co", delaySeconds: 200 * DAY, properties: { other: 1 } })),
  );
  expect(await deliver()).toEqual(["a@x.co"]);
  expect(await deliver()).toEqual([]);
  await add({ personEmail: "a@x.co", properties: { plan: "free" } });
  fixture.time.now = START + 90 * DAY - 1;
  expect(await deliver()).toEqual([]);
  fixture.time.now = START + 90 * DAY + 5;
  expect(await deliver()).toEqual(["a@x.co"]);
  expect(await members()).toMatchObject([
    {
      person: { last_sent_at: START + 90 * DAY + 5 },
      next_survey_request: {
        created_at: START + 90 * DAY + 5,
        survey_scheduled_at: START + 180 * DAY + 5,
        properties: { plan: "free" },
      },
    },
  ]);
});

test("when the frequency changes, then recurring surveys move and updated_at with them; first ones stay", async () => {
  await add({ personEmail: "a@x.co" });
  await deliver();
  fixture.time.now = START + 10;
  await add({ personEmail: "b@x.co" });
  fixture.time.now = START + 20;
  expect(await configure({ frequency: 7 * DAY })).toEqual({
    active: true,
    frequency: 7 * DAY,
    first: "now",
    window: ALWAYS,
  });
  expect(await fixture.read((tx) => tx.autopilot.configuration(fixture.project.id, "email"))).toEqual({
    platform_id: "email",
    active: true,
    frequency: 7 * DAY,
    created_at: START,
    updated_at: START + 20,
  });
  expect((await members()).map((row) => [row.updated_at, row.next_survey_request?.survey_scheduled_at])).toEqual([
    [START + 20, START + 7 * DAY],
    [START + 10, START + 10],
  ]);
  const { rows } = await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery()));
  expect(rows.map((row) => row.next_survey_scheduled_at)).toEqual([START + 7 * DAY, START + 10]);
  for (const frequency of [0, -1, 1.5, 2 ** 53]) {
    await expect(configure({ frequency })).rejects.toMatchObject({
      errors: { frequency: ["must be from 1 second to 100 years"] },
    });
  }
});

test("when a platform is inactive, then nothing is sent, members stay, and they go on when it is active again", async () => {
  await add({ personEmail: "a@x.co" });
  await configure({ active: false });
  await add({ personEmail: "b@x.co" });
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "c@x.co", delaySeconds: 5 })));
  expect(await members()).toHaveLength(2);
  expect(await fixture.read((tx) => nextDueAt(tx))).toBe(START + 5);
  fixture.time.now = START + DAY;
  expect(await deliver()).toEqual(["c@x.co"]);
  // Surveys that came due while inactive are spread over a week: member 1 after 0.618 of it, member 2 after 0.236.
  await configure({ active: true });
  expect(await deliver()).toEqual([]);
  expect((await members()).map((row) => row.next_survey_request?.survey_scheduled_at)).toEqual([
    START + DAY + 373_787,
    START + DAY + 142_774,
  ]);
  fixture.time.now = START + DAY + 142_774;
  expect(await deliver()).toEqual(["b@x.co"]);
  fixture.time.now = START + DAY + 373_787;
  expect(await deliver()).toEqual(["a@x.co"]);
});

test("when it is active again with a longer frequency, then who is not due by it keeps their place", async () => {
  await configure({ frequency: DAY });
  for (const name of ["a", "b"]) await add({ personEmail: `${name}@x.co` });
  fixture.time.now = START + DAY;
  expect(await deliver()).toHaveLength(2);
  const sentAt = fixture.time.now;
  await configure({ active: false });
  fixture.time.now = sentAt + 3 * DAY;
  await configure({ active: true, frequency: 90 * DAY });
  expect((await members()).map((row) => row.next_survey_request?.survey_scheduled_at)).toEqual([
    sentAt + 90 * DAY,
    sentAt + 90 * DAY,
  ]);
});

test("when a member is removed, then what waits is cancelled, person and responses stay, and they may come back", async () => {
  await add({ personEmail: "a@x.co", properties: { plan: "pro" } });
  await fixture.write((tx) => addResponse(tx, fixture.project, responseInput({ personId: "1" }), links));
  const person = { id: "1", name: null, email: "a@x.co", phone_number: null, created_at: START };
  expect(await remove("A@x.co")).toEqual({ person });
  expect(await members()).toEqual([]);
  expect(await deliver()).toEqual([]);
  expect(await fixture.read((tx) => listResponses(tx, fixture.project, responsesQuery(), links))).toHaveLength(1);
  await expect(remove("a@x.co")).rejects.toMatchObject({ name: "NotFoundError" });
  await expect(remove("z@x.co")).rejects.toMatchObject({ name: "NotFoundError" });
  expect(await add({ personEmail: "a@x.co" })).toMatchObject({
    member: { person, properties: {}, survey_scheduled_at: START },
    created: true,
    status: null,
  });
  expect(await deliver()).toEqual(["a@x.co"]);
});

test("when a member is removed while a survey is on its way, then its link works and no other follows", async () => {
  await add({ personEmail: "a@x.co" });
  const [due] = await fixture.write((tx) =>
    claimDue(tx, { claimer: "one", channel: "email", leaseSeconds: 60, limit: 1 }),
  );
  await remove("a@x.co");
  await add({ personEmail: "a@x.co", properties: { again: true } });
  await fixture.write((tx) => finishDelivery(tx, due!, { kind: "sent" }));
  expect(await fixture.read((tx) => tx.requests.byToken(due!.token))).toMatchObject({ personId: 1, responseId: null });
  expect(await members()).toMatchObject([
    { next_survey_request: { survey_scheduled_at: START + 90 * DAY, properties: { again: true } } },
  ]);
});

test("when a member leaves and joins again and again, then one survey is sent within one interval", async () => {
  for (let n = 0; n < 5; n += 1) {
    fixture.time.now = START + n;
    await add({ personEmail: "a@x.co" });
    expect(await deliver()).toEqual(n === 0 ? ["a@x.co"] : []);
    await remove("a@x.co");
  }
  await add({ personEmail: "a@x.co" });
  expect(await members()).toMatchObject([{ next_survey_request: { survey_scheduled_at: START + 90 * DAY } }]);
  await configure({ frequency: 7 * DAY });
  await fixture.store.settle();
  expect(await members()).toMatchObject([{ next_survey_request: { survey_scheduled_at: START + 7 * DAY } }]);
  fixture.time.now = START + 7 * DAY;
  expect(await deliver()).toEqual(["a@x.co"]);
});

test("when the other platform sent a survey, then the first one is due an interval later; when that is long ago, now", async () => {
  const both = { personEmail: "a@x.co", personPhoneNumber: "+14155550100" };
  await add({ ...both, platform: "sms" });
  expect(await deliver()).toEqual(["a@x.co"]);
  await add(both);
  expect(await members()).toMatchObject([{ next_survey_request: { survey_scheduled_at: START + 90 * DAY } }]);
  await remove("a@x.co");
  fixture.time.now = START + 91 * DAY;
  await add(both);
  expect(await members()).toMatchObject([{ next_survey_request: { survey_scheduled_at: START + 91 * DAY } }]);
});

test("when a survey outside Autopilot is sent, then the member's next one is due the throttle later", async () => {
  await configure({ first: "spread" });
  await fixture.write((tx) => setThrottle(tx, fixture.project, 60 * DAY));
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "a@x.co" })));
  await add({ personEmail: "a@x.co" });
  const due = Math.floor(0.618_033_988_7 * 90 * DAY);
  expect(await members()).toMatchObject([{ next_survey_request: { survey_scheduled_at: START + due } }]);
  fixture.time.now += 5;
  expect(await deliver()).toEqual(["a@x.co"]);
  const moved = { updated_at: START + 5, next_survey_request: { survey_scheduled_at: START + 5 + 60 * DAY } };
  expect(await members()).toMatchObject([moved]);
});

test("when the next one is due later than that anyway, then neither it nor updated_at moves", async () => {
  await add({ personEmail: "a@x.co" });
  await deliver();
  fixture.time.now += 31 * DAY;
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "a@x.co" })));
  expect(await deliver()).toEqual(["a@x.co"]);
  const same = { updated_at: START, next_survey_request: { survey_scheduled_at: START + 90 * DAY } };
  expect(await members()).toMatchObject([same]);
});

test("when a member unsubscribes, then they stay a member without a next survey", async () => {
  await add({ personEmail: "a@x.co" });
  await fixture.write((tx) => unsubscribe(tx, fixture.project, "a@x.co"));
  await add({ personEmail: "a@x.co", properties: { plan: "pro" } });
  expect(await members()).toMatchObject([{ person: { id: "1" }, next_survey_request: null }]);
});

test("when waiting surveys are cancelled, then Autopilot goes on one interval later", async () => {
  await add({ personEmail: "a@x.co" });
  await fixture.write((tx) => cancelSurveys(tx, fixture.project, { by: "email", email: "a@x.co" }));
  expect(await members()).toMatchObject([{ next_survey_request: { survey_scheduled_at: START + 90 * DAY } }]);
});

const found = async (given: Parameters<typeof membersQuery>[0]) =>
  (await members(given)).map(({ person }) => person.id);

test("when a filter names a member, then they alone are listed; somebody else, then none", async () => {
  await add({ personEmail: "a@x.co", personPhoneNumber: "+14155550100" });
  await add({ personEmail: "b@x.co" });
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "c@x.co", send: false })));
  expect(await found({})).toEqual(["1", "3"]);
  expect(await found({ personId: "3" })).toEqual(["3"]);
  expect(await found({ personEmail: "A@x.co" })).toEqual(["1"]);
  expect(await found({ personPhoneNumber: "+14155550100" })).toEqual(["1"]);
  expect(await found({ personPhoneNumber: "+14155550100", personEmail: "b@x.co" })).toEqual([]);
  expect(await found({ personEmail: "c@x.co" })).toEqual([]);
  expect(await found({ personId: "99" })).toEqual([]);
  expect(await found({ platform: "sms" })).toEqual([]);
});

test("when a platform is switched off while a survey is on its way, then it is not tried again until it is on", async () => {
  await add({ personEmail: "a@x.co" });
  const [due] = await fixture.write((tx) =>
    claimDue(tx, { claimer: "one", channel: "email", leaseSeconds: 60, limit: 1 }),
  );
  await configure({ active: false });
  await fixture.write((tx) => finishDelivery(tx, due!, { kind: "retry", delaySeconds: 30 }));
  fixture.time.now = START + 30;
  expect(await deliver()).toEqual([]);
  expect(await fixture.read((tx) => nextDueAt(tx))).toBeNull();
  const { rows } = await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery()));
  expect(rows.map((row) => row.next_survey_scheduled_at)).toEqual([null]);
  await configure({ active: true });
  fixture.time.now = START + 30 + 373_787;
  expect(await deliver()).toEqual(["a@x.co"]);
});

const textDueAt = async () => (await members({ platform: "sms" }))[0]?.next_survey_request?.survey_scheduled_at;

test("when texts have quiet hours, then their window is open for what is left, and what waits follows", async () => {
  const sms = (change: Partial<ShownAutopilot>) =>
    fixture.write((tx) => configureAutopilot(tx, fixture.project, "sms", change));
  await sms({ hours: "18-23", frequency: 30 * DAY });
  fixture.time.now = Date.parse("2026-11-24T22:30:00Z") / 1000;
  await add({ platform: "sms", personPhoneNumber: "+14155550101" });
  expect(await textDueAt()).toBe(fixture.time.now);
  fixture.time.now -= 60;
  await keepQuietHours(fixture.store, { from: 21, to: 8 });
  expect(await textDueAt()).toBe(Date.parse("2026-11-25T18:00:00Z") / 1000);
  await expect(sms({ hours: "22-6" })).rejects.toMatchObject({
    errors: { hours: ["must have an hour outside the quiet hours of text messages, 21-8"] },
  });
  expect(await sms({ hours: "18-22" })).toMatchObject({ window: { from: 18, to: 22, quiet: { from: 21, to: 8 } } });
  await keepQuietHours(fixture.store, null);
  expect(await sms({})).toMatchObject({ window: { days: ALWAYS.days, from: 18, to: 22 } });
});
