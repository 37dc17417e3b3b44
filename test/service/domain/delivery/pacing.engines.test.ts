import { claimSome } from "../../../../src/service/domain/delivery/claims.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claimDue, finishDelivery, mayStillSend } from "../../../../src/service/domain/delivery/deliveries.ts";
import { nextDueAt } from "../next-due-at.ts";
import { guardOverdue, readWaiting } from "../../../../src/service/domain/delivery/oversight.ts";
import { changeReminder } from "../../../../src/service/domain/delivery/reminders.ts";
import { readBudget } from "../../../../src/service/domain/delivery/pacing.ts";
import type { DueSurvey } from "../../../../src/service/domain/ports.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { changeSettings } from "../../../../src/service/domain/projects/settings.ts";
import { addMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { configureAutopilot } from "../../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { claimAll, type Fixture, memberInput, membersQuery, openFixture, peopleQuery, sendInput } from "../fixture.ts";
import { listMembers, listPeople } from "../lists.ts";

const moment = (text: string): number => Date.parse(text) / 1000;

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
  fixture.time.now = moment("2026-11-23T12:00:00Z");
});
afterEach(() => fixture.store.close());

const ask = (email: string) => fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email })));
const join = (email: string) =>
  fixture.write((tx) => addMember(tx, fixture.project, memberInput({ personEmail: email })));
const claim = async () => (await fixture.write(claimAll)).map((due) => due);
const due = () => fixture.read((tx) => nextDueAt(tx));

async function deliver(): Promise<(string | null)[]> {
  const claimed = await claim();
  for (const survey of claimed) await fixture.write((tx) => finishDelivery(tx, survey, { kind: "sent" }));
  return claimed.map(({ person }) => person.email);
}

describe("a window of Autopilot", () => {
  beforeEach(() =>
    fixture.write((tx) => configureAutopilot(tx, fixture.project, "email", { days: "mon-fri", hours: "5-10" })),
  );

  test("when a survey could not leave while it was open, then it leaves when it opens next, and the list says so", async () => {
    await join("a@x.co");
    const opens = moment("2026-11-24T05:00:00Z");
    expect(await due()).toBe(opens);
    fixture.time.now = moment("2026-11-27T10:00:00Z");
    await ask("b@x.co");
    expect(await deliver()).toEqual(["b@x.co"]);
    const monday = moment("2026-11-30T05:00:00Z");
    expect(await due()).toBe(monday);
    const { rows } = await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery({ email: "a@x.co" })));
    expect(rows.map((row) => row.next_survey_scheduled_at)).toEqual([monday]);
    fixture.time.now = monday;
    expect(await deliver()).toEqual(["a@x.co"]);
  });

  test("when it closes between the claim and the last byte, then the survey waits, and is not too late for it", async () => {
    await join("a@x.co");
    fixture.time.now = moment("2026-11-24T09:59:59Z");
    const [survey] = await claim();
    fixture.time.now += 1;
    const look = (one: DueSurvey) => fixture.read((tx) => mayStillSend(tx, one, { maxAgeSeconds: 60 }));
    const outcome = await look(survey!);
    expect(outcome).toMatchObject({ kind: "released", delaySeconds: 19 * 3600, reason: "window" });
    await fixture.write((tx) => finishDelivery(tx, survey!, outcome!));
    fixture.time.now += 19 * 3600;
    const [again] = await claim();
    expect(await look(again!)).toBeNull();
  });
});

const limit = (dailyLimit: string | null) =>
  fixture.write((tx) => changeSettings(tx, fixture.project, { dailyLimit, timeZone: "Europe/Berlin" }));

const setServerLimit = (max: number | null) => fixture.write((tx) => tx.senders.setDailyLimit(max));
const setOwnLimit = (max: number | null) => limit(max === null ? null : String(max));

describe("a limit for the day", () => {
  test("when more are due, then single ones leave first, the oldest first, and the others on the days that follow", async () => {
    await limit("2");
    await join("member@x.co");
    for (const name of ["a", "b", "c"]) {
      fixture.time.now += 1;
      await ask(`${name}@x.co`);
    }
    expect(await deliver()).toEqual(["a@x.co", "b@x.co"]);
    fixture.time.now += 1;
    expect(await deliver()).toEqual([]);
    const tomorrow = moment("2026-11-24T00:00:00+01:00");
    expect(await due()).toBe(tomorrow);
    expect(await fixture.read((tx) => readBudget(tx, fixture.project))).toEqual({
      limit: 2,
      sent: 2,
      leaving: 0,
      nextDayAt: tomorrow,
    });
    fixture.time.now = tomorrow;
    expect(await deliver()).toEqual(["c@x.co", "member@x.co"]);
    expect(await due()).toBe(tomorrow + 90 * 86_400);
  });

  test("when some are on their way, then they count; when they fail, others may leave", async () => {
    await limit("2");
    for (const name of ["a", "b", "c"]) await ask(`${name}@x.co`);
    const [first, second] = await claim();
    expect(await deliver()).toEqual([]);
    await fixture.write((tx) => finishDelivery(tx, first!, { kind: "sent" }));
    await fixture.write((tx) => finishDelivery(tx, second!, { kind: "bounced" }));
    fixture.time.now += 1;
    expect(await deliver()).toEqual(["c@x.co"]);
  });

  test("when a survey waits for days, then it is not too old to be sent, and a start does not pause everything", async () => {
    await limit("1");
    for (let n = 0; n < 60; n += 1) await ask(`${n}@x.co`);
    for (let day = 0; day < 3; day += 1) {
      expect(await deliver()).toHaveLength(1);
      expect(await deliver()).toEqual([]);
      fixture.time.now += 86_400;
    }
    await fixture.write(guardOverdue);
    expect(await fixture.read((tx) => tx.senders.pausedAt())).toBeNull();
    const look = async () => {
      const [survey] = await claim();
      return [survey, await fixture.read((tx) => mayStillSend(tx, survey!, { maxAgeSeconds: 86_400 }))] as const;
    };
    const [survey, refused] = await look();
    expect(refused).toBeNull();
    await fixture.write((tx) => finishDelivery(tx, survey!, { kind: "retry", delaySeconds: 45 }));
    fixture.time.now += 45;
    expect(await look()).toMatchObject([{ attempts: 1 }, null]);
  });

  test.each<[string, (max: number | null) => Promise<unknown>, number | null]>([
    ["a project's limit is raised", setOwnLimit, 500],
    ["a project's limit is taken back", setOwnLimit, null],
    ["a server's limit is taken back", setServerLimit, null],
  ])("when %s after days, then the age of what waited begins at that moment", async (_, setLimit, raised) => {
    await setLimit(1);
    for (let n = 0; n < 60; n += 1) await ask(`${n}@x.co`);
    for (let day = 0; day < 3; day += 1) {
      expect(await deliver()).toHaveLength(1);
      fixture.time.now += 86_400;
    }
    expect(await deliver()).toHaveLength(1);
    expect(await deliver()).toEqual([]);
    await setLimit(raised);
    await fixture.write(guardOverdue);
    expect(await fixture.read((tx) => tx.senders.pausedAt())).toBeNull();
    const [survey, ...others] = await claim();
    expect(others).toHaveLength(55);
    const looks = () => fixture.read((tx) => mayStillSend(tx, survey!, { maxAgeSeconds: 3600 }));
    fixture.time.now += 3600;
    expect(await looks()).toBeNull();
    fixture.time.now += 1;
    expect(await looks()).toEqual({ kind: "failed", reason: "too late" });
  });

  test("when one is refused for now, then it is tried again before what was due after it", async () => {
    await limit("2");
    await ask("a@x.co");
    fixture.time.now += 1;
    for (const name of ["b", "c", "d"]) await ask(`${name}@x.co`);
    const [refused, sent] = await claim();
    await fixture.write((tx) => finishDelivery(tx, refused!, { kind: "retry", delaySeconds: 300 }));
    await fixture.write((tx) => finishDelivery(tx, sent!, { kind: "sent" }));
    fixture.time.now += 300;
    expect(await deliver()).toEqual(["a@x.co"]);
  });

  test("when a closed window puts surveys off, then who was planned first stays first, and the membership is updated", async () => {
    await limit("1");
    await fixture.write((tx) =>
      configureAutopilot(tx, fixture.project, "email", { first: "spread", days: "any", hours: "any" }),
    );
    // Member 2 is planned before member 1.
    for (const name of ["a", "b"]) await join(`${name}@x.co`);
    await fixture.write((tx) => configureAutopilot(tx, fixture.project, "email", { days: "mon-fri", hours: "5-10" }));
    fixture.time.now = moment("2027-02-22T09:59:00+01:00");
    const claimed = await fixture.write((tx) => {
      const some = { project: fixture.project.id, claimer: "one", channel: "email", leaseSeconds: 60 } as const;
      return claimSome(tx, { ...some, limit: 10 });
    });
    expect(claimed).toHaveLength(2);
    fixture.time.now = moment("2027-02-22T10:00:00+01:00");
    for (const survey of claimed) {
      const outcome = await fixture.read((tx) => mayStillSend(tx, survey, { maxAgeSeconds: 60 }));
      expect(outcome).toMatchObject({ kind: "released", reason: "window" });
      await fixture.write((tx) => finishDelivery(tx, survey, outcome!));
    }
    const { rows } = await fixture.read((tx) => listMembers(tx, fixture.project, membersQuery()));
    expect(rows.map(({ updated_at }) => updated_at)).toEqual([fixture.time.now, fixture.time.now]);
    fixture.time.now = moment("2027-02-23T05:00:00+01:00");
    expect(await deliver()).toEqual(["b@x.co"]);
    fixture.time.now = moment("2027-02-24T05:00:00+01:00");
    expect(await deliver()).toEqual(["a@x.co"]);
  });

  test("when reminders and surveys are due, then what is older leaves first, and Autopilot last", async () => {
    await limit("3");
    await fixture.write((tx) => changeReminder(tx, fixture.project, { after: 3600 }));
    await ask("asked@x.co");
    await deliver();
    fixture.time.now = moment("2026-11-24T12:00:00Z");
    await join("member@x.co");
    await ask("new@x.co");
    fixture.time.now += 1;
    await ask("last@x.co");
    const channels = ["email", "reminder"] as const;
    const claimBoth = async (room: string) => {
      await limit(room);
      const people = [];
      for (const channel of channels) {
        const one = { project: fixture.project.id, claimer: "one", channel, leaseSeconds: 60, limit: 10 } as const;
        const { messages } = await fixture.write((tx) => claimDue(tx, one, channels));
        for (const message of messages) if ("person" in message) people.push([channel, message.person.email]);
      }
      return people;
    };
    expect(await claimBoth("1")).toEqual([["reminder", "asked@x.co"]]);
    expect(await claimBoth("3")).toEqual([
      ["email", "new@x.co"],
      ["email", "last@x.co"],
    ]);
    expect(await claimBoth("4")).toEqual([["email", "member@x.co"]]);
  });

  test("when it is raised or taken back, then more leave today", async () => {
    await limit("1");
    for (const name of ["a", "b", "c"]) await ask(`${name}@x.co`);
    expect(await deliver()).toEqual(["a@x.co"]);
    expect(await deliver()).toEqual([]);
    await limit("2");
    expect(await deliver()).toEqual(["b@x.co"]);
    expect(await deliver()).toEqual([]);
    await limit(null);
    expect(await deliver()).toEqual(["c@x.co"]);
  });

  test("when a server was given one, then it holds for projects without their own", async () => {
    await fixture.write((tx) => tx.senders.setDailyLimit(1));
    for (const name of ["a", "b"]) await ask(`${name}@x.co`);
    expect(await deliver()).toEqual(["a@x.co"]);
    expect(await deliver()).toEqual([]);
    await fixture.write((tx) => tx.senders.setDailyLimit(null));
    expect(await deliver()).toEqual(["b@x.co"]);
  });

  test.each(["0", "-1", "1.5", "many"])("when it is %s, then it is refused", async (text) => {
    await expect(limit(text)).rejects.toMatchObject({ errors: { daily_limit: ["must be a whole number from 1"] } });
  });
});

const waiting = () =>
  fixture.read(async (tx) => {
    const { id } = fixture.project;
    const project = (await tx.projects.list()).find((one) => one.id === id);
    return readWaiting(tx, project!);
  });
/** Sends a second later, so that `mayStillSend` checks again like a real sender. */
const sendAll = async (): Promise<number> => {
  let count = 0;
  fixture.time.now += 1;
  for (const survey of await claim()) {
    const refused = await fixture.read((tx) => mayStillSend(tx, survey, { maxAgeSeconds: 86_400 }));
    await fixture.write((tx) => finishDelivery(tx, survey, refused ?? { kind: "sent" }));
    if (refused === null) count += 1;
  }
  return count;
};

describe("what waits", () => {
  beforeEach(async () => {
    await limit("3");
    await fixture.write((tx) =>
      configureAutopilot(tx, fixture.project, "email", { first: "now", days: "mon-fri", hours: "5-10" }),
    );
    fixture.time.now = moment("2026-11-26T12:00:00+01:00");
    for (let n = 0; n < 5; n += 1) await join(`${n}@x.co`);
    fixture.time.now = moment("2026-11-27T05:00:00+01:00");
  });

  test("when a day's limit is reached, then what is left waits for the next window, before and after midnight", async () => {
    expect(await waiting()).toEqual({ count: 5, until: null });
    expect([await sendAll(), await sendAll()]).toEqual([3, 0]);
    const monday = moment("2026-11-30T05:00:00+01:00");
    expect(await waiting()).toEqual({ count: 2, until: monday });
    fixture.time.now = moment("2026-11-28T00:20:00+01:00");
    expect(await waiting()).toEqual({ count: 2, until: monday });
    expect(await sendAll()).toBe(0);
    expect(await waiting()).toEqual({ count: 2, until: monday });
    fixture.time.now = monday;
    expect(await waiting()).toEqual({ count: 2, until: null });
    expect(await sendAll()).toBe(2);
    expect(await waiting()).toEqual({ count: 0, until: null });
  });

  test("when a single survey waits too, then it can leave at midnight", async () => {
    expect([await sendAll(), await sendAll()]).toEqual([3, 0]);
    await ask("single@x.co");
    expect(await waiting()).toEqual({ count: 3, until: moment("2026-11-28T00:00:00+01:00") });
  });

  test("when the limit is reached and nothing waits, then there is no moment", async () => {
    await limit("5");
    expect([await sendAll(), await sendAll()]).toEqual([5, 0]);
    expect(await waiting()).toEqual({ count: 0, until: null });
  });
});
