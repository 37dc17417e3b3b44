import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import type { Properties } from "../../../../src/contract/resources.ts";
import type { SendInput } from "../../../../src/service/domain/inputs.ts";
import { addResponse, deleteResponse } from "../../../../src/service/domain/answers/responses.ts";
import { getPerson } from "../../../../src/service/domain/people/person-details.ts";
import { deletePerson, listPeopleJson } from "../../../../src/service/domain/people/people.ts";
import { resubscribe } from "../../../../src/service/domain/people/resubscribe.ts";
import { recordBounce, unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import { erasePerson, findMentions } from "../../../../src/service/domain/privacy/erase.ts";
import { setThrottle } from "../../../../src/service/domain/projects/projects.ts";
import { addMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { getMetrics } from "../../../../src/service/domain/answers/metrics.ts";
import {
  claimAll,
  type Fixture,
  links,
  metricsQuery,
  openFixture,
  peopleQuery,
  responseInput,
  responsesQuery,
  START,
} from "../fixture.ts";
import { listResponses } from "../lists.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const email = "ada@x.co";
const send = (given: Partial<SendInput> = {}) => fixture.send({ email, ...given });
const save = (given: Partial<SendInput> = {}) => send({ send: false, ...given });
const back = (note: string) => fixture.write((tx) => resubscribe(tx, fixture.project, email, note));
const get = () => fixture.read((tx) => getPerson(tx, fixture.project, { by: "email", email }));
const listed = async (withProperties: boolean, ids: readonly string[] | null = null) =>
  (await fixture.read((tx) => listPeopleJson(tx, fixture.project, peopleQuery({ withProperties, ids })))).rows.map(
    (row) => JSON.parse(row) as object,
  );

describe("properties", () => {
  it("are merged into the stored ones; null and empty text remove a key", async () => {
    await save({ properties: { plan: "pro", seats: 5, region: "eu" } });
    await save({ name: "Ada" });
    await save({ properties: {} });
    expect((await get()).properties).toEqual({ plan: "pro", seats: 5, region: "eu" });
    await save({ properties: { plan: "free", seats: null, region: "", "": 1, ["__proto__"]: "x" } });
    expect(JSON.stringify((await get()).properties)).toBe('{"plan":"free","":1,"__proto__":"x"}');
  });

  it("are replaced only when that is asked for and some are given", async () => {
    await save({ properties: { plan: "pro", seats: 5 } });
    await save({ replaceProperties: true });
    expect((await get()).properties).toEqual({ plan: "pro", seats: 5 });
    await save({ properties: { plan: "free", region: null }, replaceProperties: true });
    expect((await get()).properties).toEqual({ plan: "free" });
  });

  it("stay as they are when the merged ones would be too large", async () => {
    const half = "x".repeat(40_000);
    await save({ properties: { one: half } });
    await expect(save({ properties: { two: half } })).rejects.toMatchObject({
      errors: { properties: ["are too large together with the stored ones (maximum is 65536 bytes)"] },
    });
    expect((await get()).properties).toEqual({ one: half });
  });

  it("of the person stay as they are when Autopilot has its own", async () => {
    const member = { platform: "email", personId: null, personPhoneNumber: null, personName: null } as const;
    const enrol = (personEmail: string, properties: Properties | null) =>
      fixture.write((tx) => addMember(tx, fixture.project, { ...member, personEmail, properties }));
    await save({ properties: { plan: "pro", locale: "de", thank_you_message: "Danke" } });
    expect((await enrol(email, { plan: "team" })).member.properties).toEqual({ plan: "team" });
    expect((await get()).properties).toEqual({ plan: "pro", locale: "de", thank_you_message: "Danke" });
    await save({ email: "bob@x.co", properties: { plan: "pro", locale: "de", thank_you_message: "Danke" } });
    expect((await enrol("bob@x.co", null)).member.properties).toEqual({ plan: "pro", locale: "de" });
    await save({ email: "bob@x.co", properties: { plan: "free" } });
    expect((await enrol("bob@x.co", null)).member.properties).toEqual({ plan: "pro", locale: "de" });
    await save({ email: "cy@x.co", properties: { plan: "pro" } });
    expect((await enrol("cy@x.co", {})).member.properties).toEqual({});
  });

  it("go with every later survey, without the texts of an earlier message", async () => {
    await fixture.write((tx) => setThrottle(tx, fixture.project, null));
    const texts = {
      service_intro_message: "Hello",
      delighted_email_subject: "Old",
      thank_you_link_url: "https://x.co",
    };
    const first = await send({ properties: { plan: "free", locale: "de", ...texts } });
    expect(first.person.properties).toEqual({ plan: "free", locale: "de", ...texts });
    expect((await send()).person.properties).toEqual({});
    const given = { plan: null, seats: 5, question_product_name: "Acme" };
    expect((await send({ properties: given })).person.properties).toEqual(given);
    await send({ properties: { locale: "fr" }, replaceProperties: true });
    expect((await fixture.write(claimAll)).map(({ properties }) => properties)).toEqual([
      { plan: "free", locale: "de", ...texts },
      { plan: "free", locale: "de" },
      { locale: "de", seats: 5, question_product_name: "Acme" },
      { locale: "fr" },
    ]);
  });

  it("when the address alone changes, then they stay as they are", async () => {
    await save({ properties: { plan: "pro" } });
    await save({ emailUpdate: "new@x.co", properties: { plan: "free" } });
    await save({ email: "new@x.co", emailUpdate: email });
    expect((await get()).properties).toEqual({ plan: "pro" });
  });

  it("when people are listed, then they come where they are asked for", async () => {
    await save({ properties: { plan: "pro", text: 'a "b" \\ \u2028' } });
    await save({ email: "bob@x.co" });
    const [ada, bob] = await listed(false);
    expect(ada).not.toHaveProperty("properties");
    expect(await listed(true)).toEqual([
      { ...ada, properties: { plan: "pro", text: 'a "b" \\ \u2028' } },
      { ...bob, properties: {} },
    ]);
  });

  it("are listed of some people by their ids", async () => {
    for (const name of ["ada", "bob", "cy"]) await save({ email: `${name}@x.co`, properties: { name } });
    expect(await listed(true, ["3", "1", "3", "77", "x", ""])).toMatchObject([
      { id: "1", properties: { name: "ada" } },
      { id: "3", properties: { name: "cy" } },
    ]);
    expect(await listed(true, [])).toEqual([]);
  });

  it("when the person is deleted and comes back, then they are gone", async () => {
    await save({ properties: { plan: "pro" } });
    await fixture.write((tx) => deletePerson(tx, fixture.project, { by: "email", email }));
    await save();
    expect((await get()).properties).toEqual({});
  });
});

const told = async () => {
  const { survey_status, survey_status_since, survey_status_until } = await get();
  return [survey_status, survey_status_since, survey_status_until];
};

test("when everything is paused, then a survey that is scheduled waits for that", async () => {
  await send({ delaySeconds: 60 });
  const scheduled = await told();
  await fixture.write((tx) => tx.senders.setPaused(tx.now));
  expect([scheduled, await told()]).toEqual([
    ["pending", null, START + 60],
    ["paused", START, START + 60],
  ]);
  await fixture.write((tx) => unsubscribe(tx, fixture.project, email));
  expect(await told()).toEqual(["unsubscribed", START, null]);
});

describe("somebody who comes back", () => {
  it("when they had left and bounced, then surveys go out again and the note is kept", async () => {
    await save();
    await fixture.write((tx) => unsubscribe(tx, fixture.project, email));
    await fixture.write((tx) => recordBounce(tx, fixture.project, 1));
    expect((await send()).person.survey_scheduled_at).toBeNull();
    fixture.time.now += 60;
    await back("asked by phone, Eve");
    expect(await get()).toMatchObject({
      unsubscribed_at: null,
      bounced_at: null,
      resubscriptions: [{ created_at: START + 60, note: "asked by phone, Eve" }],
    });
    expect((await send()).person.survey_scheduled_at).toBe(START + 60);
  });

  it("when they are deleted and come back, then the earlier wish does not hold any more", async () => {
    await save();
    await fixture.write((tx) => unsubscribe(tx, fixture.project, email));
    await back("asked");
    await fixture.write((tx) => deletePerson(tx, fixture.project, { by: "email", email }));
    expect((await send()).person.survey_scheduled_at).toBe(START);
    expect((await get()).resubscriptions).toEqual([]);
  });

  it("when they neither left nor bounced, then nothing is done or noted", async () => {
    await save();
    await fixture.write((tx) => unsubscribe(tx, fixture.project, email));
    expect([await back("asked"), await back("asked again")]).toEqual([true, false]);
    expect((await get()).resubscriptions).toEqual([{ created_at: START, note: "asked" }]);
  });

  it("when nobody has the address, then that is said", async () => {
    await expect(back("asked")).rejects.toMatchObject({ errors: { person_email: ["does not exist"] } });
  });
});

test("when others mention an erased address in kept properties or notes, then it is taken out", async () => {
  await save();
  await save({ email: "bob@x.co", name: "Bob", properties: { referred_by: email, plan: "pro" } });
  await fixture.write((tx) => unsubscribe(tx, fixture.project, "bob@x.co"));
  await fixture.write((tx) => resubscribe(tx, fixture.project, "bob@x.co", `asked by ${email}`));
  const identifiers = { id: 1, email, phoneNumber: null };
  const mentions = await findMentions(fixture.store, fixture.project, identifiers);
  expect(mentions.map(({ kind, personId }) => [kind, personId])).toEqual([
    ["people", 2],
    ["resubscriptions", 2],
  ]);
  const options = { forgetUnsubscribe: false, mentions };
  await fixture.write((tx) => erasePerson(tx, fixture.project, { by: "email", email }, options));
  const bob = await fixture.read((tx) => getPerson(tx, fixture.project, { by: "email", email: "bob@x.co" }));
  expect([bob.name, bob.properties, bob.resubscriptions[0]?.note]).toEqual([
    "Bob",
    { referred_by: "[erased]", plan: "pro" },
    "asked by [erased]",
  ]);
});

test("when a response is deleted, then no list, count or person has it", async () => {
  await save();
  const ids = [];
  for (const [score, createdAt] of [
    [3, START - 200],
    [10, START - 100],
  ] as const)
    ids.push(
      (
        await fixture.write((tx) =>
          addResponse(tx, fixture.project, responseInput({ personId: "1", score, createdAt }), links),
        )
      ).id,
    );
  const [first = "", last = ""] = ids;
  await fixture.write((tx) => deleteResponse(tx, fixture.project, last));
  const left = await fixture.read((tx) => listResponses(tx, fixture.project, responsesQuery(), links));
  expect([
    left.map(({ id }) => id),
    (await fixture.read((tx) => getMetrics(tx, fixture.project, metricsQuery()))).nps,
    (await get()).last_responded_at,
  ]).toEqual([[first], -100, START - 200]);
  await expect(fixture.write((tx) => deleteResponse(tx, fixture.project, last))).rejects.toMatchObject({
    name: "NotFoundError",
  });
  await fixture.write((tx) => deleteResponse(tx, fixture.project, first));
  expect([
    (await fixture.read((tx) => getMetrics(tx, fixture.project, metricsQuery()))).response_count,
    (await get()).last_responded_at,
  ]).toEqual([0, null]);
});

test("when surveys were scheduled, then the page says what became of each, the newest first", async () => {
  await send({ delaySeconds: 60 });
  expect(await get()).toMatchObject({
    surveys: [
      {
        channel: "email",
        autopilot: false,
        state: "scheduled",
        scheduled_at: START + 60,
        sent_at: null,
        answered: false,
      },
    ],
  });
});
