import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createWallClock } from "../../../../src/runtime/zone.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { countDays, listMerged } from "../../../../src/service/domain/delivery/lists/list-deliveries.ts";
import {
  LISTED_REASONS,
  LISTED_STATES,
  type ListedReason,
  type ListedState,
} from "../../../../src/service/domain/delivery/lists/listed.ts";
import { type DeliverySelection, openSources } from "../../../../src/service/domain/delivery/lists/sources.ts";
import { holdOverdue, pauseSending } from "../../../../src/service/domain/delivery/oversight.ts";
import { changeReminder } from "../../../../src/service/domain/delivery/reminders.ts";
import type { SendInput } from "../../../../src/service/domain/inputs.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import type { DuePage } from "../../../../src/service/domain/ports.ts";
import { changeSettings } from "../../../../src/service/domain/projects/settings.ts";
import { addMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { configureAutopilot } from "../../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { claimAll, DAY, type Fixture, memberInput, openFixture, sendInput } from "../fixture.ts";

/** A Tuesday. */
const START = Date.parse("2026-11-24T12:00:00Z") / 1000;

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
  fixture.time.now = START;
});
afterEach(() => fixture.store.close());

const send = (given: Partial<SendInput>) => fixture.write((tx) => sendPerson(tx, fixture.project, sendInput(given)));
const EVERYTHING = { state: null, reason: null, personId: null };
const FIRST: DuePage = { since: null, until: null, order: "desc", after: null, limit: 20 };

const list = (selection: Partial<DeliverySelection> = {}, page: Partial<DuePage> = {}) =>
  fixture.read(async (tx) =>
    listMerged(await openSources(tx, fixture.project, { ...EVERYTHING, ...selection }), { ...FIRST, ...page }),
  );
const names = async (selection: Partial<DeliverySelection> = {}, page: Partial<DuePage> = {}) =>
  (await list(selection, page)).map(({ email, at }) => `${email?.split("@")[0]} ${(at - START) / DAY}`);
const because = (reason: ListedReason) => names({ reason });

async function deliver(kind: "sent" | "bounced" = "sent"): Promise<void> {
  for (const due of await fixture.write(claimAll)) await fixture.write((tx) => finishDelivery(tx, due, { kind }));
}

describe("by due time", () => {
  beforeEach(async () => {
    await send({ email: "late@x.co", delaySeconds: 3 * DAY });
    await send({ email: "now@x.co" });
    await deliver();
    await send({ email: "soon@x.co", delaySeconds: DAY });
    // Not scheduled, so it is only listed on request.
    await send({ email: "now@x.co" });
  });

  test("when nothing is asked, then the newest comes first, whatever its state", async () => {
    expect(await names()).toEqual(["late 3", "soon 1", "now 0"]);
    expect(await names({}, { order: "asc" })).toEqual(["now 0", "soon 1", "late 3"]);
  });

  test("when a range is asked, then both ends belong to it", async () => {
    expect(await names({}, { since: START + DAY, until: START + 3 * DAY })).toEqual(["late 3", "soon 1"]);
    expect(await names({}, { until: START + DAY - 1 })).toEqual(["now 0"]);
  });

  test.each(["asc", "desc"] as const)("when pages are read (%s), then each row comes once", async (order) => {
    const all = await list({}, { order });
    const rows = [];
    for (let after: DuePage["after"] = null; rows.length < all.length;) {
      const [row] = await list({}, { order, after, limit: 1 });
      rows.push(row!);
      after = row!;
    }
    expect(rows).toEqual(all);
    expect(await list({}, { order, after: all.at(-1)! })).toEqual([]);
  });

  test.each<[ListedState, string[]]>([
    ["scheduled", ["late 3", "soon 1"]],
    ["sent", ["now 0"]],
    ["not_scheduled", ["now 0"]],
    ["held", []],
  ])("when those that are %s are asked, then these come", async (state, expected) => {
    expect(await names({ state })).toEqual(expected);
  });

  test("when one person is asked, then theirs alone come, and what was not scheduled by its reason", async () => {
    const personId = Number((await send({ email: "now@x.co", send: false })).person.id);
    const states = async (selection: Partial<DeliverySelection>) =>
      (await list({ personId, ...selection })).map(({ state, reason }) => `${state} ${reason}`);
    expect(await states({})).toEqual(["sent null"]);
    expect(await states({ state: "not_scheduled" })).toEqual(["not_scheduled throttled"]);
    expect(await states({ reason: "throttled" })).toEqual(["not_scheduled throttled"]);
    expect(await states({ reason: "bounced" })).toEqual([]);
  });
});

test("a person's lists are the lists of all people, without the others", async () => {
  await fixture.write((tx) => changeReminder(tx, fixture.project, { after: DAY }));
  await send({ email: "ada@x.co" });
  await send({ email: "bob@x.co" });
  await deliver();
  await send({ email: "ada@x.co" });
  await fixture.write((tx) => unsubscribe(tx, fixture.project, "bob@x.co"));
  await send({ email: "bob@x.co" });
  await fixture.write((tx) => addMember(tx, fixture.project, memberInput({ personEmail: "ada@x.co" })));
  for (const email of ["cara@x.co", "dan@x.co"]) await send({ email, delaySeconds: 2 * DAY });
  fixture.time.now += 5 * DAY;
  await fixture.write((tx) => holdOverdue(tx, { maxAgeSeconds: DAY, limit: 10 }));
  await fixture.write((tx) => pauseSending(tx, null));
  const people = ["ada@x.co", "bob@x.co", "cara@x.co"];
  for (const state of [null, ...LISTED_STATES])
    for (const reason of [null, ...LISTED_REASONS]) {
      const all = await list({ state, reason });
      const days = (given: Partial<DeliverySelection>) => countBy({ state, reason, ...given });
      const sums = [];
      for (const email of people) {
        const personId = Number((await send({ email, send: false })).person.id);
        const own = all.filter((row) => row.email === email);
        expect([email, state, reason, await list({ state, reason, personId })]).toEqual([email, state, reason, own]);
        expect(await list({ state, reason, personId }, { order: "asc", limit: 1, after: own.at(-1) ?? null })).toEqual(
          own.toReversed().slice(1, 2),
        );
        sums.push(await days({ personId }));
      }
      const others = all.filter(({ email }) => !people.includes(email ?? "")).length;
      expect(sums.reduce((sum, count) => sum + count, others)).toBe(await days({}));
    }
});

/** The number of surveys and requests in all states. */
const countBy = (selection: Partial<DeliverySelection>) =>
  fixture.read(async (tx) => {
    let sum = 0;
    for (const { count } of await openSources(tx, fixture.project, { ...EVERYTHING, ...selection }))
      sum += await count({ since: null, until: null });
    return sum;
  });

describe("by reason", () => {
  test("when surveys were asked for and not scheduled, then each reason has its own", async () => {
    await send({ email: "waits@x.co", delaySeconds: DAY });
    await send({ email: "waits@x.co" });
    await send({ email: "recent@x.co", lastSentAt: START - DAY });
    await send({ email: "left@x.co", delaySeconds: 2 * DAY });
    await fixture.write((tx) => unsubscribe(tx, fixture.project, "left@x.co"));
    await send({ email: "left@x.co" });
    await send({ email: "bad@x.co" });
    await deliver("bounced");
    await send({ email: "bad@x.co" });
    expect({
      pending: await because("pending"),
      throttled: await because("throttled"),
      unsubscribed: await because("unsubscribed"),
      bounced: await because("bounced"),
    }).toEqual({
      pending: ["waits 0"],
      throttled: ["recent 0"],
      unsubscribed: ["left 2", "left 0"],
      bounced: ["bad 0", "bad 0"],
    });
  });

  test("when all is paused, then what is due waits for that", async () => {
    await send({ email: "due@x.co" });
    await send({ email: "later@x.co", delaySeconds: DAY });
    expect(await because("paused")).toEqual([]);
    await fixture.write((tx) => pauseSending(tx, null));
    expect(await because("paused")).toEqual(["due 0"]);
    expect((await list()).map(({ reason }) => reason)).toEqual([null, "paused"]);
  });

  test("when Autopilot is inactive, then its surveys wait for that", async () => {
    await fixture.write((tx) => addMember(tx, fixture.project, memberInput({ personEmail: "member@x.co" })));
    await fixture.write((tx) => configureAutopilot(tx, fixture.project, "email", { active: false }));
    expect(await because("paused")).toEqual(["member 0"]);
  });

  test("when the limit of the day is reached, then what is due waits for that", async () => {
    await fixture.write((tx) => changeSettings(tx, fixture.project, { dailyLimit: "1" }));
    for (const email of ["a@x.co", "b@x.co"]) await send({ email });
    await deliver();
    await deliver();
    expect(await because("limit")).toEqual(["b 0"]);
    fixture.time.now += DAY;
    expect(await because("limit")).toEqual([]);
  });

  test("when a window closed before a survey left, then it waits for that", async () => {
    await fixture.write((tx) => configureAutopilot(tx, fixture.project, "email", { days: "any", hours: "12-13" }));
    await fixture.write((tx) => addMember(tx, fixture.project, memberInput({ personEmail: "member@x.co" })));
    expect(await because("window")).toEqual([]);
    fixture.time.now += DAY / 2;
    await deliver();
    expect(await because("window")).toEqual(["member 1"]);
    fixture.time.now = START + DAY;
    await deliver();
    expect([await because("window"), await names({ state: "sent" })]).toEqual([[], ["member 1"]]);
  });
});

const days = (page: Partial<DuePage> & { readonly from?: number } = {}, zone = "UTC") =>
  fixture.read(async (tx) => {
    const sources = await openSources(tx, fixture.project, EVERYTHING);
    const after = page.from ?? null;
    return (await countDays({ sources, coming: [] }, createWallClock(zone), { ...FIRST, ...page, after })).map(
      ({ day, counts: { scheduled, sent } }) => `${day}: ${sent} sent, ${scheduled} scheduled`,
    );
  });

describe("by day", () => {
  beforeEach(async () => {
    for (const email of ["a@x.co", "b@x.co"]) await send({ email });
    await deliver();
    await send({ email: "c@x.co", delaySeconds: 5 * 3600 });
    await send({ email: "d@x.co", delaySeconds: 12 * 3600 });
    await send({ email: "e@x.co", delaySeconds: 40 * DAY });
    await send({ email: "f@x.co", delaySeconds: 20_000_000_000_000 });
  });

  test("when they are counted, then a day has all states, and days without surveys are left out", async () => {
    const expected = [
      "2026-11-24: 2 sent, 1 scheduled",
      "2026-11-25: 0 sent, 1 scheduled",
      "2027-01-03: 0 sent, 1 scheduled",
    ];
    expect(await days({ order: "asc" })).toEqual(expected);
    expect(await days()).toEqual(expected.toReversed());
    expect(await days({}, "America/New_York")).toEqual([
      "2027-01-03: 0 sent, 1 scheduled",
      "2026-11-24: 2 sent, 2 scheduled",
    ]);
  });

  test("when a range or a page is asked, then no other day and no other hour counts", async () => {
    expect(await days({ since: START + 1, until: START + 12 * 3600 - 1 })).toEqual(["2026-11-24: 0 sent, 1 scheduled"]);
    const midnight = START - DAY / 2;
    expect(await days({ order: "asc", limit: 1, from: midnight })).toEqual(["2026-11-25: 0 sent, 1 scheduled"]);
    expect(await days({ limit: 1, from: midnight + DAY })).toEqual(["2026-11-24: 2 sent, 1 scheduled"]);
  });
});
