import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { resumeTexts, stopTexts } from "../../../../src/service/domain/people/suppressions.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { claimAll, DAY } from "../fixture.ts";
import { type HttpFixture, openHttp } from "../../http/fixture.ts";

let fixture: HttpFixture;
beforeEach(async () => {
  fixture = await openHttp();
});
afterEach(() => fixture.store.close());

const BETWEEN = "someone else changed the person between the import's rows";
const EXPAND = "?expand[]=before";
const email = "ada@x.co";
async function write(given: JsonObject, path = "people"): Promise<{ readonly id: string; readonly write: JsonObject }> {
  const saved = (await fixture.post(`/v1/${path}.json${EXPAND}`, given)) as unknown as {
    readonly id?: string;
    readonly person: { readonly id: string };
    readonly before: JsonObject | null;
    readonly undo: JsonObject;
  };
  return { id: saved.id ?? saved.person.id, write: { before: saved.before, ...saved.undo } };
}
const undo = async (id: string, ...writes: JsonObject[]) =>
  await fixture.post(`/v1/people/${id}/undo.json`, { writes });
const people = async () =>
  ((await fixture.get("/v1/people.json?expand[]=properties")) as JsonObject[]).map(
    ({ email: address, name, properties }) => [address, name, properties],
  );
const surveys = async (id: string) =>
  ((await fixture.get(`/v1/people/${id}.json`)) as { surveys: JsonObject[] }).surveys.map(({ state }) => state);

test("a plain request is answered as specified", async () => {
  expect(Object.keys(await fixture.post("/v1/people.json", { email }))).toEqual([
    "id",
    "email",
    "name",
    "survey_scheduled_at",
    "properties",
  ]);
  expect(Object.keys(await fixture.post("/v1/autopilot/email/memberships.json", { person_email: email }))).toEqual([
    "person",
    "properties",
    "survey_scheduled_at",
  ]);
});

describe("someone whom the import created", () => {
  it("is deleted with the survey that waits, once", async () => {
    const ada = await write({ email, name: "Ada", delay: DAY });
    expect(ada.write.before).toBe(null);
    expect(await undo(ada.id, ada.write)).toEqual({ done: ["survey cancelled", "person deleted"], kept: [] });
    expect(await people()).toEqual([]);
    expect(await undo(ada.id, ada.write)).toEqual({ done: [], kept: [] });
  });

  it("is deleted with the responses and the membership that the import added", async () => {
    const ada = await write({ person_email: email }, "autopilot/email/memberships");
    const { id, updated_at } = await fixture.post("/v1/survey_responses.json", { person: ada.id, score: 9 });
    expect(await undo(ada.id, ada.write, { response: id as string, updated_at: updated_at as number })).toEqual({
      done: ["removed from Autopilot (email)", "response deleted", "person deleted"],
      kept: [],
    });
    expect([await people(), await fixture.get("/v1/autopilot/email/memberships.json")]).toEqual([[], []]);
  });

  it.each([
    [
      "answered",
      "the person has responses",
      (id) => fixture.post("/v1/survey_responses.json", { person: id, score: 9 }),
    ],
    [
      "has another name",
      "the person was changed since",
      () => fixture.post("/v1/people.json", { email, name: "Eve", send: false }),
    ],
    [
      "has another property",
      "the person was changed since",
      () => fixture.post("/v1/people.json", { email, properties: { a: 1 }, send: false }),
    ],
    [
      "has another address",
      "the person was changed since",
      () => fixture.post("/v1/people.json", { email, email_update: "eve@x.co", send: false }),
    ],
    [
      "has a number",
      "the person was changed since",
      () => fixture.post("/v1/people.json", { email, phone_number: "+14155550101", send: false }),
    ],
    [
      "is in Autopilot",
      "the person has other surveys",
      () => fixture.post("/v1/autopilot/email/memberships.json", { person_email: email }),
    ],
    [
      "unsubscribed",
      "the person unsubscribed or bounced since",
      () => fixture.post("/v1/unsubscribes.json", { person_email: email }),
    ],
    [
      "asked to come back",
      "the person was resubscribed since",
      async () => {
        await fixture.post("/v1/unsubscribes.json", { person_email: email });
        await fixture.call("DELETE", "/v1/unsubscribes", { body: { person_email: email, note: "asked" } });
      },
    ],
  ] as [string, string, (id: string) => Promise<unknown>][])("and %s since is kept", async (_, reason, touch) => {
    const ada = await write({ email, name: "Ada", send: false });
    fixture.time.now += 60;
    await touch(ada.id);
    const before = await people();
    expect(await undo(ada.id, ada.write)).toMatchObject({ done: [], kept: [reason] });
    expect(await people()).toEqual(before);
  });

  it.each([
    ["saved with the same values", () => fixture.post("/v1/people.json", { email, name: "Ada", send: false })],
    ["saved without values", () => fixture.post("/v1/people.json", { email, send: false })],
    ["imported again", () => write({ email, name: "Ada", send: false })],
    [
      "renamed there and back",
      async () => {
        for (const [old, now] of [
          [email, "eve@x.co"],
          ["eve@x.co", email],
        ] as const)
          await fixture.post("/v1/people.json", { email: old, email_update: now, send: false });
      },
    ],
    [
      "given a response that was deleted",
      async (person: string) => {
        const { id } = await fixture.post("/v1/survey_responses.json", { person, score: 9 });
        await fixture.call("DELETE", `/v1/survey_responses/${String(id)}.json`);
      },
    ],
  ] as [string, (id: string) => Promise<unknown>][])("and was %s in the same second is kept", async (_, touch) => {
    const ada = await write({ email, name: "Ada", send: false });
    await touch(ada.id);
    expect(await undo(ada.id, ada.write)).toEqual({ done: [], kept: ["the person was changed since"] });
    expect(await people()).toEqual([[email, "Ada", {}]]);
  });

  it.each([
    ["was moved to its own time", (at: number) => ["PUT", { scheduled_at: at }]],
    ["was cancelled", () => ["DELETE"]],
  ] as [string, (at: number) => [string, JsonObject?]][])("and whose survey %s is kept", async (_, touch) => {
    const ada = await write({ email, delay: DAY });
    const [method, body] = touch(fixture.time.now + DAY);
    await fixture.call(method, `/v1/people/${email}/survey_requests/pending.json`, body === undefined ? {} : { body });
    expect((await undo(ada.id, ada.write)).kept).toEqual(["the person was changed since"]);
  });

  it("by several rows is deleted, in whichever order they arrived", async () => {
    const first = await write({ email, name: "Ada", delay: DAY });
    const second = await write({ email, properties: { plan: "new" }, send: false });
    const third = await write({ email, name: "Ada", send: false });
    expect((await undo(first.id, third.write, first.write, second.write)).done).toEqual([
      "survey cancelled",
      "person deleted",
    ]);
  });

  it("and was removed from Autopilot since, or moved there, is kept", async () => {
    const ada = await write({ person_email: email }, "autopilot/email/memberships");
    await fixture.call("DELETE", `/v1/autopilot/email/memberships.json?person_email=${email}`);
    expect(await undo(ada.id, ada.write)).toEqual({ done: [], kept: ["the person was changed since"] });
    const given = { person_email: "bob@x.co", person_phone_number: "+14155550102" };
    const bob = await write(given, "autopilot/email/memberships");
    await fixture.post("/v1/autopilot/sms/memberships/move.json", { person_id: bob.id });
    expect(await undo(bob.id, bob.write)).toEqual({
      done: [],
      kept: ["the person is in Autopilot (sms) now", "the person has other surveys"],
    });
  });

  it("by rows that were sent at once, some of them twice, is deleted", async () => {
    const rows = await Promise.all([1, 2, 3, 4, 5].map((n) => write({ email, name: `Ada ${n}`, send: false })));
    const writes = rows.map((row) => row.write);
    expect(await undo(rows[0]!.id, ...writes, ...writes)).toEqual({ done: ["person deleted"], kept: [] });
  });

  it("by rows between which someone else changed them is kept", async () => {
    const first = await write({ email, name: "Ada", send: false });
    await fixture.post("/v1/people.json", { email, name: "Eve", send: false });
    const second = await write({ email, name: "Ada", send: false });
    expect(await undo(first.id, first.write, second.write)).toEqual({ done: [], kept: [BETWEEN] });
    expect(await people()).toEqual([[email, "Ada", {}]]);
  });

  it("and has other values than the last row left, as after a restore, is kept", async () => {
    const ada = await write({ email, name: "Ada", send: false });
    expect(await undo(ada.id, { ...ada.write, values: "rbFQ3pXrJ1Gm3lQK" })).toEqual({
      done: [],
      kept: ["the person was changed since"],
    });
  });

  it("by an address that had unsubscribed is deleted", async () => {
    await fixture.post("/v1/people.json", { email, send: false });
    await fixture.post("/v1/unsubscribes.json", { person_email: email });
    await fixture.call("DELETE", `/v1/people/email:${email}.json`);
    fixture.time.now += 60;
    const ada = await write({ email });
    expect(await undo(ada.id, ada.write)).toEqual({ done: ["person deleted"], kept: [] });
  });

  it("by rows of which one filled in an address that had unsubscribed is deleted", async () => {
    await fixture.post("/v1/people.json", { email, send: false });
    await fixture.post("/v1/unsubscribes.json", { person_email: email });
    await fixture.call("DELETE", `/v1/people/email:${email}.json`);
    fixture.time.now += 60;
    const phone = { phone_number: "+14155550101", send: false };
    const rows = [await write(phone), await write({ ...phone, email }), await write({ email, send: false })];
    expect(rows.map((row) => row.write.writes)).toEqual([0, 1, 2]);
    expect(await undo(rows[0]!.id, ...rows.map((row) => row.write))).toEqual({ done: ["person deleted"], kept: [] });
  });

  it("is kept if the record comes from a version that didn't count", async () => {
    const ada = await write({ email, delay: DAY });
    const { writes: _, survey_at: __, ...old } = ada.write;
    expect(await undo(ada.id, { ...old, values: "rbFQ3pXrJ1Gm3lQK", state: "rbFQ3pXrJ1Gm3lQK" })).toEqual({
      done: [],
      kept: ["the record doesn't say when the survey was scheduled for", "the person has other surveys"],
    });
    expect([await people(), await surveys(ada.id)]).toEqual([[[email, null, {}]], ["scheduled"]]);
    const bob = await write({ email: "bob@x.co", send: false });
    const { writes: ___, ...withoutCount } = bob.write;
    expect(await undo(bob.id, withoutCount)).toEqual({
      done: [],
      kept: ["the record doesn't say whether the person was changed since"],
    });
  });

  it("and is surveyed at this moment, or has been, is kept", async () => {
    const ada = await write({ email });
    await fixture.write(claimAll);
    expect(await undo(ada.id, ada.write)).toMatchObject({
      kept: ["the survey has left", "the person has other surveys"],
    });
    expect(await people()).toHaveLength(1);
  });

  it("and has a survey of someone else's keeps it, and loses the import's", async () => {
    const ada = await write({ email, delay: 40 * DAY });
    await fixture.call("DELETE", `/v1/people/${email}/survey_requests/pending.json`);
    await fixture.post("/v1/people.json", { email, delay: DAY });
    expect(await undo(ada.id, ada.write)).toEqual({ done: [], kept: ["the person has other surveys"] });
    expect(await surveys(ada.id)).toEqual(["scheduled", "cancelled"]);
  });
});

describe("someone who was there before", () => {
  const old = { email, name: "Ada", properties: { plan: "old", seats: 5 }, send: false };

  it("gets the overwritten name and properties back, and keeps a survey that waited before", async () => {
    await fixture.post("/v1/people.json", { email, delay: DAY });
    await fixture.post("/v1/people.json", old);
    const first = await write({
      email,
      name: "Eve",
      properties: { plan: "new", region: "eu", seats: null },
      send: false,
    });
    expect(first.write.before).toEqual({ name: "Ada", properties: { plan: "old", seats: 5, region: null } });
    const second = await write({ email, name: "Eva" });
    expect(second.write).toMatchObject({ before: { name: "Eve" }, survey: null });
    expect(await undo(first.id, first.write, second.write)).toEqual({ done: ["person restored"], kept: [] });
    expect(await people()).toEqual([[email, "Ada", { plan: "old", seats: 5 }]]);
    expect(await surveys(first.id)).toEqual(["scheduled"]);
    expect(await undo(first.id, first.write, second.write)).toEqual({ done: [], kept: [] });
  });

  it("gets an empty name back, also after a change of address", async () => {
    await fixture.post("/v1/people.json", { email, send: false });
    const ada = await write({ email, name: "Ada", send: false });
    await fixture.post("/v1/people.json", { email, email_update: "ada@x.org", send: false });
    expect(await undo(ada.id, ada.write)).toEqual({ done: ["person restored"], kept: [] });
    expect(await people()).toEqual([["ada@x.org", null, {}]]);
  });

  it("keeps what was changed since, and loses the import's survey", async () => {
    await fixture.post("/v1/people.json", old);
    const ada = await write({ email, name: "Eve", delay: DAY });
    await fixture.post("/v1/people.json", { email, name: "Eva", send: false });
    expect(await undo(ada.id, ada.write)).toEqual({
      done: ["survey cancelled"],
      kept: ["the name or properties were changed since"],
    });
    expect(await people()).toEqual([[email, "Eva", { plan: "old", seats: 5 }]]);
  });

  it("keeps values that were written again since", async () => {
    await fixture.post("/v1/people.json", old);
    const first = await write({ email, name: "Eve", send: false });
    const second = await write({ email, name: "Eve", send: false });
    const kept = ["the name or properties were changed since"];
    expect(await undo(first.id, first.write)).toEqual({ done: [], kept });
    expect(await undo(first.id, second.write)).toEqual({ done: [], kept: [] });
    expect(await undo(first.id, first.write, second.write)).toEqual({ done: ["person restored"], kept: [] });
    expect(await people()).toEqual([[email, "Ada", { plan: "old", seats: 5 }]]);
  });

  it("keeps the values if someone else changed them between the import's rows", async () => {
    await fixture.post("/v1/people.json", old);
    const first = await write({ email, name: "Eve", send: false });
    await fixture.post("/v1/people.json", { email, name: "Eva", send: false });
    const second = await write({ email, name: "Eve", send: false });
    expect(await undo(first.id, first.write, second.write)).toEqual({ done: [], kept: [BETWEEN] });
    expect(await people()).toEqual([[email, "Eve", { plan: "old", seats: 5 }]]);
  });

  it("keeps the import's survey if it was rescheduled since", async () => {
    await fixture.post("/v1/people.json", old);
    const ada = await write({ email, delay: DAY });
    const body = { scheduled_at: fixture.time.now + 2 * DAY };
    await fixture.call("PUT", `/v1/people/${email}/survey_requests/pending.json`, { body });
    expect(await undo(ada.id, ada.write)).toEqual({ done: [], kept: ["the survey was rescheduled since"] });
    expect(await surveys(ada.id)).toEqual(["scheduled"]);
  });

  it("loses the import's survey, even if quiet hours put it off", async () => {
    await fixture.post("/v1/people.json", old);
    const ada = await write({ email });
    await fixture.write(async (tx) => {
      const putOff = { kind: "released", delaySeconds: DAY, isEarly: true } as const;
      for (const survey of await claimAll(tx)) await finishDelivery(tx, survey, putOff);
    });
    expect(await undo(ada.id, ada.write)).toEqual({ done: ["survey cancelled"], kept: [] });
    expect(await surveys(ada.id)).toEqual(["cancelled"]);
  });

  it("gets the old values back after a save without values", async () => {
    await fixture.post("/v1/people.json", old);
    const ada = await write({ email, name: "Eve", send: false });
    await fixture.post("/v1/people.json", { email, delay: DAY });
    expect(await undo(ada.id, ada.write)).toEqual({ done: ["person restored"], kept: [] });
  });

  it("stays in Autopilot if they joined before, or again since", async () => {
    await fixture.post("/v1/people.json", old);
    const joined = await write({ person_email: email }, "autopilot/email/memberships");
    const again = await write({ person_email: email }, "autopilot/email/memberships");
    expect(await undo(again.id, again.write)).toEqual({ done: [], kept: [] });
    fixture.time.now += 60;
    await fixture.call("DELETE", `/v1/autopilot/email/memberships.json?person_email=${email}`);
    await fixture.post("/v1/autopilot/email/memberships.json", { person_email: email });
    expect(await undo(joined.id, joined.write)).toEqual({
      done: [],
      kept: ["the person has joined Autopilot again since"],
    });
    expect(await fixture.get("/v1/autopilot/email/memberships.json")).toHaveLength(1);
  });

  it("stays in Autopilot if someone wrote them since, and joined again in the same second", async () => {
    await fixture.post("/v1/people.json", { ...old, phone_number: "+14155550101" });
    const joined = await write({ person_email: email }, "autopilot/email/memberships");
    await fixture.call("DELETE", `/v1/autopilot/email/memberships.json?person_email=${email}`);
    await fixture.post("/v1/autopilot/email/memberships.json", { person_email: email });
    const kept = ["the membership stays, because the person was changed since"];
    expect(await undo(joined.id, joined.write)).toEqual({ done: [], kept });
    expect(await fixture.get("/v1/autopilot/email/memberships.json")).toHaveLength(1);
    await fixture.post("/v1/autopilot/sms/memberships/move.json", { person_id: joined.id });
    expect(await undo(joined.id, joined.write)).toEqual({ done: [], kept: ["the person is in Autopilot (sms) now"] });
  });

  it("is told what can't be restored", async () => {
    await fixture.post("/v1/people.json", { phone_number: "+14155550101", send: false });
    const first = await write({ email, phone_number: "+14155550101", send: false });
    const second = await write({ email, phone_number: "+14155550102", last_sent_at: 1_600_000_000, send: false });
    expect(await undo(first.id, first.write, second.write)).toEqual({
      done: [],
      kept: ["the e-mail address stays", "the phone number stays", "the time of the last survey stays"],
    });
    const member = { person_email: email, properties: { plan: "old" } };
    const joined = await write(member, "autopilot/email/memberships");
    const changed = await write({ ...member, properties: { plan: "new" } }, "autopilot/email/memberships");
    expect(await undo(first.id, changed.write)).toEqual({ done: [], kept: ["the Autopilot properties stay"] });
    expect(await undo(first.id, joined.write, changed.write)).toEqual({
      done: ["removed from Autopilot (email)"],
      kept: [],
    });
  });

  it.each(["the same", "another"])("keeps a response that was given %s score", async (which) => {
    const { id: person } = await fixture.post("/v1/people.json", old);
    const { id, updated_at } = await fixture.post("/v1/survey_responses.json", { person: person as string, score: 9 });
    await fixture.call("PUT", `/v1/survey_responses/${String(id)}.json`, {
      body: { score: which === "another" ? 8 : 9 },
    });
    expect(await undo(person as string, { response: id as string, updated_at: updated_at as number })).toEqual({
      done: [],
      kept: [`response ${String(id)} was changed since`],
    });
  });

  it.each([0, 60])("keeps a response that was changed %i seconds later", async (seconds) => {
    const { id: person } = await fixture.post("/v1/people.json", old);
    const { id, updated_at } = await fixture.post("/v1/survey_responses.json", { person: person as string, score: 9 });
    const response = { response: id as string, updated_at: updated_at as number };
    fixture.time.now += seconds;
    await fixture.call("PUT", `/v1/survey_responses/${String(id)}.json`, { body: { tags: ["vip"] } });
    expect(await undo(person as string, response)).toEqual({
      done: [],
      kept: [`response ${String(id)} was changed since`],
    });
    expect(await fixture.get("/v1/survey_responses.json")).toHaveLength(1);
  });
});

test("someone who sent STOP and START since is kept", async () => {
  const ada = await write({ phone_number: "+14155550101", send: false });
  await fixture.write((tx) => stopTexts(tx, fixture.project, "+14155550101"));
  await fixture.write((tx) => resumeTexts(tx, fixture.project, "+14155550101"));
  expect(await undo(ada.id, ada.write)).toEqual({ done: [], kept: ["the person was changed since"] });
});

test("someone who had unsubscribed and does so again is kept", async () => {
  await fixture.post("/v1/people.json", { email, send: false });
  await fixture.post("/v1/unsubscribes.json", { person_email: email });
  await fixture.call("DELETE", `/v1/people/email:${email}.json`);
  fixture.time.now += 60;
  const ada = await write({ email, send: false });
  await fixture.post("/v1/unsubscribes.json", { person_email: email });
  expect(await undo(ada.id, ada.write)).toEqual({ done: [], kept: ["the person was changed since"] });
});

test("someone who unsubscribed in the same second is kept", async () => {
  const ada = await write({ email, send: false });
  await fixture.post("/v1/unsubscribes.json", { person_email: email });
  expect(await undo(ada.id, ada.write)).toEqual({ done: [], kept: ["the person unsubscribed or bounced since"] });
});

test("someone who has got the id after a restore isn't touched", async () => {
  const ada = await write({ email, name: "Ada", delay: DAY });
  const { created, ...undoing } = ada.write;
  expect(await undo(ada.id, { ...undoing, created: Number(created) - 1 })).toEqual({
    done: [],
    kept: ["the id is another person's now"],
  });
  expect([await people(), await surveys(ada.id)]).toEqual([[[email, "Ada", {}]], ["scheduled"]]);
});

test("someone else's response or survey isn't touched", async () => {
  const ada = await write({ email, delay: DAY });
  const bob = await write({ email: "bob@x.co", send: false });
  const { id, updated_at } = await fixture.post("/v1/survey_responses.json", { person: ada.id, score: 9 });
  const answer = await undo(bob.id, {
    ...bob.write,
    survey: ada.write.survey ?? null,
    response: id as string,
    updated_at: updated_at as number,
  });
  expect(answer).toEqual({ done: [], kept: [`response ${String(id)} was changed since`] });
  expect(await surveys(ada.id)).toEqual(["scheduled"]);
});
