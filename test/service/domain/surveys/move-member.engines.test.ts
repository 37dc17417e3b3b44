import { afterEach, beforeEach, expect, test } from "vitest";
import type { Platform } from "../../../../src/contract/resources.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { getPerson } from "../../../../src/service/domain/people/person-details.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import { configureAutopilot } from "../../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { addMember, moveMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { claimAll, DAY, type Fixture, memberInput, membersQuery, openFixture, sendInput } from "../fixture.ts";
import { listMembers } from "../lists.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
  for (const platform of ["email", "sms"] as const) await configure(platform, { first: "spread", frequency: 30 * DAY });
});
afterEach(() => fixture.store.close());

const [email, phone] = ["ada@x.co", "+14155550101"];
const configure = (platform: Platform, change: object) =>
  fixture.write((tx) => configureAutopilot(tx, fixture.project, platform, change));
const save = (given: object) =>
  fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ send: false, ...given })));
const enrol = (given: object) => fixture.write((tx) => addMember(tx, fixture.project, memberInput(given)));
const move = (platform: Platform, reference = { by: "email", email } as const) =>
  fixture.write((tx) => moveMember(tx, fixture.project, { platform, reference }));
const listed = async (platform: Platform) =>
  (await fixture.read((tx) => listMembers(tx, fixture.project, membersQuery({ platform })))).rows.map(
    ({ person, next_survey_request: next }) => [person.email, next?.properties, next?.survey_scheduled_at],
  );
const stays = (reason: unknown) => ({ errors: { person: [reason] } });

test("the member's date and properties move with them, and nothing is left on the old platform", async () => {
  await save({ email, phoneNumber: phone });
  const { member } = await enrol({ personEmail: email, properties: { plan: "pro" } });
  const at = member.survey_scheduled_at!;
  fixture.time.now += DAY;
  expect(await move("sms")).toMatchObject({ isChanged: true, member: { survey_scheduled_at: at } });
  expect([await listed("email"), await listed("sms")]).toEqual([[], [[email, { plan: "pro" }, at]]]);
  expect((await fixture.read((tx) => getPerson(tx, fixture.project, { by: "email", email }))).surveys).toMatchObject([
    { channel: "sms", state: "scheduled", scheduled_at: at },
    { channel: "email", state: "cancelled" },
  ]);
  expect(await move("sms")).toMatchObject({ isChanged: false, member: { survey_scheduled_at: at } });
  expect(await listed("sms")).toEqual([[email, { plan: "pro" }, at]]);
  fixture.time.now = at;
  const [survey, ...others] = await fixture.write(claimAll);
  expect([survey?.channel, others]).toEqual(["sms", []]);
  await fixture.write((tx) => finishDelivery(tx, survey!, { kind: "sent" }));
  expect(await listed("sms")).toEqual([[email, { plan: "pro" }, at + 30 * DAY]]);
});

test("a date outside the other window becomes its next opening", async () => {
  await save({ email, phoneNumber: phone });
  const at = (await enrol({ personEmail: email })).member.survey_scheduled_at!;
  const hour = (Math.floor(at / 3600) + 2) % 24;
  await configure("sms", { hours: `${hour}-${(hour + 1) % 24}` });
  const opening = (Math.floor(at / 3600) + 2) * 3600;
  expect(await move("sms")).toMatchObject({ member: { survey_scheduled_at: opening } });
});

test("who isn't a member, can't be reached or is on both platforms stays, with the reason", async () => {
  await save({ email });
  await expect(move("sms")).rejects.toMatchObject(stays("is not in Autopilot"));
  await enrol({ personEmail: email });
  const before = await listed("email");
  await expect(move("sms")).rejects.toMatchObject(stays("has no phone number"));
  await enrol({ platform: "sms", personPhoneNumber: phone });
  const reference = { by: "phone_number", phoneNumber: phone } as const;
  await expect(move("email", reference as never)).rejects.toMatchObject(stays("has no e-mail address"));
  await expect(move("email", { by: "email", email: "nobody@x.co" } as never)).rejects.toMatchObject({
    name: "NotFoundError",
  });
  await save({ email, phoneNumber: "+14155550102" });
  await enrol({ platform: "sms", personPhoneNumber: "+14155550102" });
  await expect(move("sms")).rejects.toMatchObject(stays("is on both platforms"));
  expect(await listed("email")).toEqual(before);
});

test("who unsubscribed, or is being surveyed, stays", async () => {
  await save({ email, phoneNumber: phone });
  await enrol({ platform: "sms", personPhoneNumber: phone });
  const at = (await listed("sms"))[0]![2] as number;
  fixture.time.now = at;
  await fixture.write(claimAll);
  await expect(move("email")).rejects.toMatchObject(stays("is being surveyed at this moment"));
  await fixture.write((tx) => unsubscribe(tx, fixture.project, email));
  await expect(move("email")).rejects.toMatchObject(
    stays(expect.stringMatching(/^can't get surveys there: unsubscribed on 2025-/)),
  );
  expect(await listed("email")).toEqual([]);
});
