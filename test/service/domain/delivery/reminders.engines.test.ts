import { changeResponse } from "../../../../src/service/domain/answers/response-changes.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { answerSurvey } from "../../../../src/service/domain/answers/answers.ts";
import { getMetrics } from "../../../../src/service/domain/answers/metrics.ts";
import { addResponse } from "../../../../src/service/domain/answers/responses.ts";
import { recordReport } from "../../../../src/service/domain/delivery/bounces.ts";
import {
  claimDue,
  finishDelivery,
  markTransmitting,
  mayStillSend,
} from "../../../../src/service/domain/delivery/deliveries.ts";
import { listMerged } from "../../../../src/service/domain/delivery/lists/list-deliveries.ts";
import { openSources } from "../../../../src/service/domain/delivery/lists/sources.ts";
import {
  explainPerson,
  guardOverdue,
  holdOverdue,
  isOverdueInBulk,
  readPause,
  summarizeQueue,
} from "../../../../src/service/domain/delivery/oversight.ts";
import { changeReminder, LINK_SECONDS, readReminder } from "../../../../src/service/domain/delivery/reminders.ts";
import { deletePerson, sendPerson } from "../../../../src/service/domain/people/people.ts";
import { recordBounce, unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import { receiveText } from "../../../../src/service/domain/sms/receive-text.ts";
import { setThrottle } from "../../../../src/service/domain/projects/projects.ts";
import { addMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { configureAutopilot } from "../../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import type { DueSurvey } from "../../../../src/service/domain/ports.ts";
import {
  claimAll,
  DAY,
  type Fixture,
  links,
  memberInput,
  openFixture,
  responseInput,
  sendInput,
  START,
} from "../fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
  await fixture.write((tx) => changeReminder(tx, fixture.project, { after: 5 * DAY }));
});
afterEach(() => fixture.store.close());

async function sendSurveys(): Promise<readonly DueSurvey[]> {
  const due = await fixture.write(claimAll);
  for (const survey of due) await fixture.write((tx) => finishDelivery(tx, survey, { kind: "sent" }));
  return due;
}

async function ask(email: string): Promise<DueSurvey> {
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email })));
  const [due] = await sendSurveys();
  if (due === undefined) throw new Error("nothing was due");
  return due;
}

const claimReminders = async (channel: "reminder" | "sms-reminder" = "reminder") => {
  const claim = { project: fixture.project.id, claimer: "one", channel, leaseSeconds: 60, limit: 10 } as const;
  return (await fixture.write((tx) => claimDue(tx, claim))).messages;
};

test("when a survey was sent, then one reminder with the same link follows, and counts apart", async () => {
  const survey = await ask("a@x.co");
  fixture.time.now = START + 5 * DAY - 1;
  expect(await claimReminders()).toEqual([]);
  fixture.time.now += 1;
  const [reminder] = await claimReminders();
  expect(reminder).toMatchObject({
    channel: "reminder",
    token: survey.token,
    unsubscribeToken: survey.unsubscribeToken,
    person: { email: "a@x.co" },
    survey: { requestId: survey.requestId, channel: "email", sentAt: START, firstAttemptAt: START },
    scheduledAt: START + 5 * DAY,
  });
  const attempt = { stage: "final-dot", code: 250, enhancedCode: null, text: "ok", host: null, serverId: null, ms: 1 };
  await fixture.write((tx) => finishDelivery(tx, reminder!, { kind: "sent", attempt }));
  fixture.time.now += 100 * DAY;
  expect(await claimReminders()).toEqual([]);
  const person = await fixture.read((tx) => tx.people.byEmail(fixture.project.id, "a@x.co"));
  expect(person?.lastSentAt).toBe(START);
  const all = { since: null, until: null, trend: null, groups: new Set(["email"] as const) };
  expect(await fixture.read((tx) => getMetrics(tx, fixture.project, all))).toMatchObject({
    email_sent_count: 1,
    email_reminder_count: 1,
  });
  const { surveys } = await fixture.read((tx) => explainPerson(tx, fixture.project, "a@x.co"));
  expect(surveys.map(({ log }) => log.map(({ text }) => text))).toEqual([["ok"]]);
});

test("when an earlier response is changed after a survey was sent, then the person is reminded", async () => {
  const input = sendInput({ email: "a@x.co", send: false });
  const { person } = await fixture.write((tx) => sendPerson(tx, fixture.project, input));
  const early = responseInput({ personId: person.id });
  const { id } = await fixture.write((tx) => addResponse(tx, fixture.project, early, links));
  fixture.time.now += 60;
  await ask("a@x.co");
  await fixture.write((tx) => changeResponse(tx, fixture.project.id, Number(id), { tags: ["b"], updatedAt: tx.now }));
  fixture.time.now += 5 * DAY;
  expect(await claimReminders()).toHaveLength(1);
});

test("when the answer to one survey is changed after a member's next one was sent, then the person is reminded", async () => {
  const input = memberInput({ personEmail: "a@x.co" });
  await fixture.write((tx) => addMember(tx, fixture.project, input));
  const [first] = await sendSurveys();
  fixture.time.now += 2 * DAY;
  const early = responseInput({ personId: String(first!.person.id) });
  const { id } = await fixture.write((tx) => addResponse(tx, fixture.project, early, links));
  fixture.time.now = START + 90 * DAY;
  const [second] = await sendSurveys();
  expect(second!.requestId).toBeLessThan(Number(id));
  fixture.time.now += DAY;
  await fixture.write((tx) => changeResponse(tx, fixture.project.id, Number(id), { tags: ["b"], updatedAt: tx.now }));
  fixture.time.now += 4 * DAY;
  expect(await claimReminders()).toMatchObject([{ token: second!.token }]);
});

test("when a response came before a survey was sent again, then there is no reminder: the first may have arrived", async () => {
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "a@x.co" })));
  const [first] = await fixture.write(claimAll);
  await fixture.write((tx) => finishDelivery(tx, first!, { kind: "unknown" }, { onUnknown: "resend" }));
  fixture.time.now += 600;
  const personId = String(first!.person.id);
  await fixture.write((tx) => addResponse(tx, fixture.project, responseInput({ personId }), links));
  fixture.time.now += 600;
  await sendSurveys();
  fixture.time.now += 5 * DAY;
  expect(await claimReminders()).toHaveLength(0);
});

describe("nobody is reminded", () => {
  test.each<[string, (survey: DueSurvey) => Promise<unknown>]>([
    [
      "who answered on the page",
      ({ token }) => fixture.write((tx) => answerSurvey(tx, token, { score: 9, by: "button" }, DAY)),
    ],
    [
      "whose answer came in through the API",
      ({ person }) =>
        fixture.write((tx) =>
          addResponse(tx, fixture.project, responseInput({ personId: String(person.id), score: 3 }), links),
        ),
    ],
    [
      "whose answer came in through the API and is dated before the survey",
      ({ person }) =>
        fixture.write((tx) => {
          const input = responseInput({ personId: String(person.id), createdAt: START - DAY });
          return addResponse(tx, fixture.project, input, links);
        }),
    ],
    ["who unsubscribed", () => fixture.write((tx) => unsubscribe(tx, fixture.project, "a@x.co"))],
    ["whose address bounced", ({ person }) => fixture.write((tx) => recordBounce(tx, fixture.project, person.id))],
    ["who is gone", () => fixture.write((tx) => deletePerson(tx, fixture.project, { by: "email", email: "a@x.co" }))],
    [
      "who got a newer survey",
      async () => {
        await fixture.write((tx) => setThrottle(tx, fixture.project, null));
        await ask("a@x.co");
      },
    ],
  ])("%s", async (_, happens) => {
    const survey = await ask("a@x.co");
    fixture.time.now = START + 5 * DAY - 10;
    await happens(survey);
    fixture.time.now = START + 5 * DAY;
    expect(await claimReminders()).toEqual([]);
  });

  test("who answers between the claim and the last byte", async () => {
    const { token } = await ask("a@x.co");
    fixture.time.now = START + 5 * DAY;
    const [reminder] = await claimReminders();
    await fixture.write((tx) => answerSurvey(tx, token, { score: 9, by: "button" }, DAY));
    expect(await fixture.read((tx) => mayStillSend(tx, reminder!, { maxAgeSeconds: null }))).toEqual({
      kind: "cancelled",
      reason: "the person has answered",
    });
  });

  test.each<[string, (survey: DueSurvey) => Promise<unknown>]>([
    ["who answers", ({ token }) => fixture.write((tx) => answerSurvey(tx, token, { score: 9, by: "button" }, DAY))],
    ["who unsubscribes", () => fixture.write((tx) => unsubscribe(tx, fixture.project, "a@x.co"))],
    ["who is erased", () => fixture.write((tx) => deletePerson(tx, fixture.project, { by: "email", email: "a@x.co" }))],
  ])("%s while the message is on its way, right before the last byte", async (_, happens) => {
    const survey = await ask("a@x.co");
    fixture.time.now = START + 5 * DAY;
    const [reminder] = await claimReminders();
    expect(await fixture.read((tx) => mayStillSend(tx, reminder!, { maxAgeSeconds: null }))).toBeNull();
    await happens(survey);
    expect(await fixture.write((tx) => markTransmitting(tx, reminder!))).toBe(false);
  });

  test("whose survey was followed by one that had been asked for before it, and waited", async () => {
    await fixture.write((tx) => setThrottle(tx, fixture.project, null));
    await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "a@x.co", delaySeconds: 2 * DAY })));
    const first = await ask("a@x.co");
    fixture.time.now = START + 2 * DAY;
    const [second] = await sendSurveys();
    expect(second!.requestId).toBeLessThan(first.requestId);
    fixture.time.now = START + 5 * DAY;
    expect(await claimReminders()).toEqual([]);
    fixture.time.now = START + 7 * DAY;
    expect(await claimReminders()).toMatchObject([{ token: second!.token }]);
  });

  test("whose survey's link has expired, though it leads somewhere up to the last second", async () => {
    await ask("a@x.co");
    fixture.time.now = START + LINK_SECONDS;
    const [reminder] = await claimReminders();
    const look = () => fixture.read((tx) => mayStillSend(tx, reminder!, { maxAgeSeconds: null }));
    expect(await look()).toBeNull();
    fixture.time.now += 1;
    expect(await look()).toEqual({ kind: "cancelled", reason: "the survey's link has expired" });
    fixture.time.now += 60;
    expect(await claimReminders()).toEqual([]);
  });

  test("whose survey was sent before reminders were on, or is of another channel", async () => {
    await fixture.write((tx) => changeReminder(tx, fixture.project, { after: null }));
    await ask("a@x.co");
    await fixture.write((tx) => changeReminder(tx, fixture.project, { after: DAY, channel: "sms" }));
    await ask("b@x.co");
    fixture.time.now += 100 * DAY;
    expect(await claimReminders()).toEqual([]);
  });
});

async function remindLate(to: { readonly email: string } | { readonly phoneNumber: string }): Promise<void> {
  await change({ after: 20 * DAY });
  const channel = "email" in to ? "email" : "sms";
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ ...to, channel })));
  await sendSurveys();
  fixture.time.now += 20 * DAY;
  const [reminder] = await claimReminders(channel === "email" ? "reminder" : "sms-reminder");
  await fixture.write((tx) => finishDelivery(tx, reminder!, { kind: "sent" }));
  fixture.time.now += 14 * DAY;
}

describe("what comes back after a late reminder is about its survey", () => {
  test("an answer by text", async () => {
    const ada = "+4917012345678";
    await remindLate({ phoneNumber: ada });
    const rules = { replies: false, isAnsweredByProvider: false, windowSeconds: 30 * DAY };
    const text = (id: string) => ({ source: "json", id, from: ada, to: null, text: "9", part: null });
    expect(await fixture.write((tx) => receiveText(tx, text("m1"), rules))).toBe("score");
    fixture.time.now += 1;
    expect(await fixture.write((tx) => receiveText(tx, text("m2"), rules))).toBe("unmatched");
  });

  test("a report that names the address alone", async () => {
    await remindLate({ email: "a@x.co" });
    const failed = { action: "failed", verdict: "bounced", code: 550, enhancedCode: "5.1.1", text: "no user" } as const;
    const named = { token: null, messageId: null, needsProof: false };
    const about = { source: "mail", id: null, kind: "delivery-status", ...named } as const;
    const report = { ...about, recipients: [{ addresses: ["a@x.co"], ...failed }] };
    expect(await fixture.write((tx) => recordReport(tx, report))).toBe("bounced");
  });
});

const claimOne = async () => {
  await ask("a@x.co");
  fixture.time.now = START + 5 * DAY;
  const [reminder] = await claimReminders();
  return reminder!;
};

const change = (settings: { readonly after?: number | null; readonly channel?: "any" | "email" | "sms" }) =>
  fixture.write((tx) => changeReminder(tx, fixture.project, settings));

describe("when reminders are turned off", () => {
  test.each<[string, () => Promise<unknown>]>([
    ["all of them", () => change({ after: null })],
    ["those of the channel", () => change({ channel: "sms" })],
    ["all, and on again", () => change({ after: null }).then(() => change({ after: 5 * DAY }))],
  ])("%s, then none leaves that waited", async (_, turnOff) => {
    await ask("a@x.co");
    fixture.time.now += DAY;
    await turnOff();
    fixture.time.now = START + 5 * DAY;
    expect(await claimReminders()).toEqual([]);
    await change({ after: 5 * DAY, channel: "any" });
    expect(await claimReminders()).toEqual([]);
    await ask("b@x.co");
    fixture.time.now += 5 * DAY;
    expect(await claimReminders()).toMatchObject([{ person: { email: "b@x.co" } }]);
  });

  test.each<[string, () => Promise<unknown>, string]>([
    ["all", () => change({ after: null }), "reminders are off"],
    ["those of the channel", () => change({ channel: "sms" }), "reminders are off for email"],
    [
      "all, and on again",
      () => change({ after: null }).then(() => change({ after: 5 * DAY })),
      "reminders were turned off",
    ],
  ])("%s, while one is on its way, then it does not leave, and says why", async (_, turnOff, reason) => {
    const reminder = await claimOne();
    await turnOff();
    const ended = { kind: "cancelled", reason };
    expect(await fixture.read((tx) => mayStillSend(tx, reminder, { maxAgeSeconds: null }))).toEqual(ended);
    expect(await fixture.write((tx) => markTransmitting(tx, reminder))).toBe(false);
  });
});

test("when the window is closed, then a reminder waits until it opens", async () => {
  const noon = Date.parse("2026-11-23T12:00:00Z") / 1000;
  await fixture.write((tx) => configureAutopilot(tx, fixture.project, "email", { days: "mon-fri", hours: "5-10" }));
  fixture.time.now = noon;
  await ask("a@x.co");
  fixture.time.now = noon + 5 * DAY;
  expect(await claimReminders()).toEqual([]);
  fixture.time.now = Date.parse("2026-11-30T05:00:00Z") / 1000;
  expect(await claimReminders()).toHaveLength(1);
});

describe("a reminder that its sender has given back", () => {
  test("is seen while it is held, and leaves when it is released", async () => {
    const reminder = await claimOne();
    await fixture.write((tx) => finishDelivery(tx, reminder, { kind: "held", reason: "535" }));
    const list = (state: "held" | null, personId: number | null = null) =>
      fixture.read(async (tx) => {
        const page = { since: null, until: null, order: "asc", after: null, limit: 9 } as const;
        const rows = await listMerged(await openSources(tx, fixture.project, { state, reason: null, personId }), page);
        return rows.map((row) => [row.id, row.channel, row.email, row.state, row.reason]);
      });
    const held = [[reminder.requestId, "reminder", "a@x.co", "held", "535"]];
    const personId = "person" in reminder ? reminder.person.id : 0;
    expect([await list("held"), await list("held", personId)]).toEqual([held, held]);
    expect(await list(null)).toMatchObject([[expect.anything(), "email", "a@x.co", "sent", null]]);
    expect(await fixture.read(summarizeQueue)).toMatchObject({ states: { sent: 1, held: 1 }, waiting: { held: 1 } });
    fixture.time.now += 60;
    expect(await fixture.write((tx) => tx.deliveries.releaseHeld(9, { isOperator: true }))).toBe(1);
    expect(await claimReminders()).toMatchObject([{ requestId: reminder.requestId }]);
  });

  test("leaves at once when what was put off is released", async () => {
    const reminder = await claimOne();
    const waits = { kind: "released", delaySeconds: 3600, reason: "the sender waits after rcpt-to 421" } as const;
    await fixture.write((tx) => finishDelivery(tx, reminder, waits));
    expect(await fixture.write((tx) => tx.deliveries.releasePutOff(9, "sms"))).toBe(0);
    expect(await fixture.write((tx) => tx.deliveries.releasePutOff(9, "email"))).toBe(1);
    expect(await claimReminders()).toHaveLength(1);
  });
});

test("when many reminders are overdue by a day, then a start pauses everything, and holds those that are too old", async () => {
  for (let n = 0; n <= 50; n += 1) await ask(`${n}@x.co`);
  fixture.time.now = START + 6 * DAY;
  await fixture.write(guardOverdue);
  expect(await fixture.read(readPause)).toBeNull();
  fixture.time.now += 1;
  await fixture.write(guardOverdue);
  const reason = "more than 50 surveys and reminders were due more than 24 hours ago";
  expect(await fixture.read(readPause)).toEqual({ at: fixture.time.now, reason });
  expect(await fixture.read(isOverdueInBulk)).toBe(true);
  expect(await fixture.write((tx) => holdOverdue(tx, { maxAgeSeconds: DAY, limit: 60 }))).toBe(51);
  expect(await fixture.write((tx) => tx.deliveries.releaseHeld(60, { isOperator: false }))).toBe(0);
  expect(await fixture.write((tx) => tx.deliveries.releaseHeld(60, { isOperator: true }))).toBe(51);
});

test.each([{ after: null }, { channel: "sms" as const }])(
  "when reminders are off by %o, then those that are overdue pause and hold nothing",
  async (settings) => {
    for (let n = 0; n <= 50; n += 1) await ask(`${n}@x.co`);
    await fixture.write((tx) => changeReminder(tx, fixture.project, settings));
    fixture.time.now = START + 6 * DAY + 1;
    await fixture.write(guardOverdue);
    expect([await fixture.read(readPause), await fixture.read(isOverdueInBulk)]).toEqual([null, false]);
    expect(await fixture.write((tx) => holdOverdue(tx, { maxAgeSeconds: DAY, limit: 60 }))).toBe(0);
  },
);

test.each([0, 3599, 30 * DAY + 1, 1.5 * 3600 + 0.5])(
  "when %d seconds are wanted, then they are refused",
  async (after) => {
    await expect(fixture.write((tx) => changeReminder(tx, fixture.project, { after }))).rejects.toMatchObject({
      errors: { after: ["must be from 1 hour to 30 days, such as 5d, or off"] },
    });
    expect(await fixture.read((tx) => readReminder(tx, fixture.project))).toEqual({ after: 5 * DAY, channel: "any" });
  },
);
