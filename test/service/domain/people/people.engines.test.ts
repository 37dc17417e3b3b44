import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SendInput } from "../../../../src/service/domain/inputs.ts";
import { cancelSurveys, deletePerson, sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addProject, setThrottle } from "../../../../src/service/domain/projects/projects.ts";
import { recordBounce, unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import { addResponse } from "../../../../src/service/domain/answers/responses.ts";
import {
  DAY,
  START,
  links,
  openFixture,
  peopleQuery,
  responseInput,
  responsesQuery,
  sendInput,
  type Fixture,
} from "../fixture.ts";
import { listPeople, listResponses } from "../lists.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const send = (given: Partial<SendInput>) => fixture.write((tx) => sendPerson(tx, fixture.project, sendInput(given)));
const save = (given: Partial<SendInput>) => send({ send: false, ...given });
const people = async () => (await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery()))).rows;
const identities = async () =>
  (await people()).map(({ id, email, phone_number, name }) => [id, email, phone_number, name]);

describe("who is meant", () => {
  test.each<[string, Partial<SendInput>[], (string | null)[][]]>([
    ["a new e-mail is given, then a person is made", [{ email: "ann@x.co" }], [["1", "ann@x.co", null, null]]],
    [
      "a known e-mail is given in other case, then that person is meant and keeps the first spelling",
      [{ email: "Ann@X.co" }, { email: "aNN@x.CO", name: "Ann" }],
      [["1", "Ann@X.co", null, "Ann"]],
    ],
    [
      "no name is given, then the stored one stays",
      [{ email: "a@x.co", name: "Ann" }, { email: "a@x.co" }],
      [["1", "a@x.co", null, "Ann"]],
    ],
    [
      "only a phone is given, then the person has no e-mail",
      [{ phoneNumber: "+14155550100" }],
      [["1", null, "+14155550100", null]],
    ],
    [
      "a known phone is given alone, then its person is meant",
      [{ phoneNumber: "+14155550100" }, { phoneNumber: "+14155550100", name: "Bo" }],
      [["1", null, "+14155550100", "Bo"]],
    ],
    [
      "the e-mail is unknown and the phone names a person without one, then that person gains it",
      [{ phoneNumber: "+14155550100" }, { email: "bo@x.co", phoneNumber: "+14155550100" }],
      [["1", "bo@x.co", "+14155550100", null]],
    ],
    [
      "the e-mail is known and the phone is nobody's, then the e-mail's person gets it",
      [
        { email: "a@x.co", phoneNumber: "+14155550100" },
        { email: "a@x.co", phoneNumber: "+14155550101" },
      ],
      [["1", "a@x.co", "+14155550101", null]],
    ],
  ])("when %s", async (_, calls, expected) => {
    for (const call of calls) await save(call);
    expect(await identities()).toEqual(expected);
  });

  test.each<[string, Partial<SendInput>, Record<string, string[]>]>([
    [
      "the phone is another person's with e-mail",
      { email: "new@x.co", phoneNumber: "+14155550101" },
      { phone_number: ["has already been taken"] },
    ],
    [
      "both name different people",
      { email: "a@x.co", phoneNumber: "+14155550102" },
      { phone_number: ["has already been taken"] },
    ],
    ["nobody is named", {}, { email: ["can't be blank"] }],
    ["the channel is SMS without a phone", { email: "a@x.co", channel: "sms" }, { phone_number: ["can't be blank"] }],
    [
      "the new e-mail is taken",
      { email: "a@x.co", emailUpdate: "B@x.co" },
      { email_update: ["has already been taken"] },
    ],
    [
      "the new phone is taken",
      { phoneNumber: "+14155550102", phoneNumberUpdate: "+14155550101" },
      { phone_number_update: ["has already been taken"] },
    ],
    ["the old e-mail is nobody's", { email: "no@x.co", emailUpdate: "c@x.co" }, { email: ["does not exist"] }],
    [
      "the old phone is nobody's",
      { phoneNumber: "+14155550109", phoneNumberUpdate: "+14155550108" },
      { phone_number: ["does not exist"] },
    ],
    [
      "a new e-mail is given without the old one",
      { phoneNumber: "+14155550102", emailUpdate: "c@x.co" },
      { email: ["can't be blank"] },
    ],
    [
      "a new phone is given without the old one",
      { email: "a@x.co", phoneNumberUpdate: "+14155550108" },
      { phone_number: ["can't be blank"] },
    ],
  ])("when %s, then it is refused and nobody changes", async (_, call, errors) => {
    await save({ email: "a@x.co" });
    await save({ email: "b@x.co", phoneNumber: "+14155550101" });
    await save({ phoneNumber: "+14155550102" });
    const before = await people();
    await expect(save(call)).rejects.toMatchObject({ name: "InvalidError", errors });
    expect(await people()).toEqual(before);
  });

  test("when e-mail and phone are renamed, then the person keeps their id and the old values are free", async () => {
    await save({ email: "a@x.co", phoneNumber: "+14155550100" });
    const renamed = await save({
      email: "A@x.co",
      phoneNumber: "+14155550100",
      emailUpdate: "New@x.co",
      phoneNumberUpdate: "+14155550199",
    });
    expect(renamed).toEqual({
      person: { id: "1", email: "New@x.co", name: null, survey_scheduled_at: null, properties: {} },
      created: false,
      status: null,
    });
    await save({ email: "a@x.co", phoneNumber: "+14155550100" });
    expect((await people()).map(({ email }) => email)).toEqual(["New@x.co", "a@x.co"]);
  });

  test("when sixteen calls make the same person at once, then there is one person and one survey", async () => {
    const answers = await Promise.all(Array.from({ length: 16 }, () => send({ email: "a@x.co" })));
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    expect(answers.filter(({ person }) => person.survey_scheduled_at !== null)).toHaveLength(1);
    expect(await people()).toHaveLength(1);
  });
});

const scheduledAt = async (given: Partial<SendInput>) =>
  (await send({ email: "a@x.co", phoneNumber: "+14155550100", ...given })).person.survey_scheduled_at;

describe("whether a survey is scheduled", () => {
  test.each<[string, Partial<SendInput>[], (number | null)[]]>([
    ["a person is new, then at once", [{}], [START]],
    ["a delay is given, then so much later", [{ delaySeconds: 3600 }], [START + 3600]],
    ["send is false, then not", [{ send: false, delaySeconds: 60 }], [null]],
    ["one waits already, then not", [{ delaySeconds: 400 * DAY }, {}], [START + 400 * DAY, null]],
    ["the given last time is recent, then not", [{ lastSentAt: START - 30 * DAY + 1 }], [null]],
    ["the given last time is one interval ago, then at once", [{ lastSentAt: START - 30 * DAY }], [START]],
    [
      "the stored last time is newer than the given one, then it counts",
      [{ send: false, lastSentAt: START - DAY }, { lastSentAt: START - 90 * DAY }],
      [null, null],
    ],
    ["the channel is SMS, then too", [{ channel: "sms" }], [START]],
    ["the person has only a phone and the channel is e-mail, then not", [{ email: null }], [null]],
  ])("when %s", async (_, calls, expected) => {
    const answers = [];
    for (const call of calls) answers.push(await scheduledAt(call));
    expect(answers).toEqual(expected);
  });

  test("when throttling is off, then two surveys may wait", async () => {
    await fixture.write((tx) => setThrottle(tx, fixture.project, null));
    expect([await scheduledAt({ delaySeconds: 60 }), await scheduledAt({ delaySeconds: 30 })]).toEqual([
      START + 60,
      START + 30,
    ]);
    expect((await people())[0]?.next_survey_scheduled_at).toBe(START + 30);
  });

  test("when a person is throttled, then name and last time are saved all the same", async () => {
    await save({ email: "a@x.co", lastSentAt: START - DAY });
    await send({ email: "a@x.co", name: "Ann", lastSentAt: START - 60 });
    expect(await people()).toEqual([
      {
        id: "1",
        email: "a@x.co",
        name: "Ann",
        created_at: START,
        phone_number: null,
        last_sent_at: START - 60,
        last_responded_at: null,
        next_survey_scheduled_at: null,
      },
    ]);
  });

  test("when a person has unsubscribed, then e-mail is blocked and SMS is not", async () => {
    await save({ email: "a@x.co", phoneNumber: "+14155550100" });
    await fixture.write((tx) => unsubscribe(tx, fixture.project, "A@X.CO"));
    expect([await scheduledAt({ name: "Ann" }), await scheduledAt({ channel: "sms" })]).toEqual([null, START]);
    expect((await people())[0]?.name).toBe("Ann");
  });

  test("when an address has bounced, then e-mail is blocked and SMS is not", async () => {
    await save({ email: "a@x.co", phoneNumber: "+14155550100" });
    await fixture.write((tx) => recordBounce(tx, fixture.project, 1));
    expect([await scheduledAt({}), await scheduledAt({ channel: "sms" })]).toEqual([null, START]);
  });

  test("when a phone number is suppressed, then SMS is blocked and e-mail is not", async () => {
    await save({ email: "a@x.co", phoneNumber: "+14155550100" });
    await fixture.write((tx) =>
      tx.suppressions.add(fixture.project.id, "sms", "+14155550100", { reason: "stop", at: START }),
    );
    expect([await scheduledAt({ channel: "sms" }), await scheduledAt({})]).toEqual([null, START]);
  });

  test("when somebody unsubscribes, then what waits to be mailed is dropped", async () => {
    await send({ email: "a@x.co", delaySeconds: 60 });
    await fixture.write((tx) => unsubscribe(tx, fixture.project, "a@x.co"));
    expect((await people())[0]?.next_survey_scheduled_at).toBeNull();
  });
});

test("when a special property is over-long, then its name as given is refused and nobody is made", async () => {
  const properties = {
    service_email_subject: "é".repeat(151),
    delighted_intro_message: "x".repeat(301),
    other: "y".repeat(999),
  };
  await expect(send({ email: "a@x.co", properties })).rejects.toMatchObject({
    errors: {
      service_email_subject: ["is too long (maximum is 150 characters)"],
      delighted_intro_message: ["is too long (maximum is 300 characters)"],
    },
  });
  await save({
    email: "b@x.co",
    properties: { service_email_subject: "😀".repeat(150), service_intro_message: "x".repeat(300) },
  });
  expect(await identities()).toEqual([["1", "b@x.co", null, null]]);
});

test("when surveys are cancelled, then none waits; of somebody unknown, it is refused", async () => {
  await send({ email: "a@x.co", delaySeconds: 60 });
  const cancel = () => fixture.write((tx) => cancelSurveys(tx, fixture.project, { by: "email", email: "a@x.co" }));
  expect([await cancel(), await cancel()]).toEqual([true, false]);
  expect((await people())[0]?.next_survey_scheduled_at).toBeNull();
  await expect(
    fixture.write((tx) => cancelSurveys(tx, fixture.project, { by: "email", email: "b@x.co" })),
  ).rejects.toMatchObject({
    name: "NotFoundError",
  });
});

test("when a person is deleted, then all of theirs goes and the address is free again", async () => {
  await send({ email: "a@x.co" });
  await fixture.write((tx) => addResponse(tx, fixture.project, responseInput({ personId: "1" }), links));
  await fixture.write((tx) => deletePerson(tx, fixture.project, { by: "email", email: "A@x.co" }));
  expect(await people()).toEqual([]);
  expect(await fixture.read((tx) => listResponses(tx, fixture.project, responsesQuery(), links))).toEqual([]);
  expect((await send({ email: "a@x.co" })).person.survey_scheduled_at).toBe(START);
  await expect(fixture.write((tx) => deletePerson(tx, fixture.project, { by: "id", id: "1" }))).rejects.toMatchObject({
    name: "NotFoundError",
  });
});

const emails = async (given: Parameters<typeof peopleQuery>[0]) =>
  (await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery(given)))).rows.map(({ email }) => email);

test("when a filter names somebody, then only they are listed; nobody, then none; both bounds are inclusive", async () => {
  for (const [index, email] of ["a@x.co", "b@x.co", "c@x.co"].entries()) {
    fixture.time.now = START + index;
    await save({ email, phoneNumber: `+1415555010${index}` });
  }
  expect(await emails({ email: "B@x.co" })).toEqual(["b@x.co"]);
  expect(await emails({ phoneNumber: "+14155550102" })).toEqual(["c@x.co"]);
  expect(await emails({ email: "z@x.co" })).toEqual([]);
  expect(await emails({ since: START + 1, until: START + 1 })).toEqual(["b@x.co"]);
  expect(await emails({ since: START + 1 })).toEqual(["b@x.co", "c@x.co"]);
  await expect(emails({ after: "nonsense" })).rejects.toMatchObject({ errors: { page_info: ["is invalid"] } });
});

test("when two projects hold the same people, then neither sees, counts or blocks the other's", async () => {
  const other = await fixture.write((tx) => addProject(tx, "other"));
  await save({ email: "a@x.co", phoneNumber: "+14155550100" });
  await save({ email: "b@x.co" });
  const answer = await fixture.write((tx) =>
    sendPerson(tx, other, sendInput({ email: "a@x.co", phoneNumber: "+14155550100" })),
  );
  expect(answer).toMatchObject({
    person: { id: "1", email: "a@x.co", name: null, survey_scheduled_at: START, properties: {} },
    created: true,
    status: null,
  });
  expect(await people()).toHaveLength(2);
  await fixture.write((tx) => deletePerson(tx, other, { by: "id", id: "1" }));
  expect(await people()).toHaveLength(2);
});
