import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import type { Channel } from "../../../../src/contract/routes.ts";
import { answerSurvey, unsubscribeByLink } from "../../../../src/service/domain/answers/answers.ts";
import { addMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import {
  finishDelivery,
  markTransmitting,
  mayStillSend,
  releaseDeadClaims,
  resolveDelivery,
} from "../../../../src/service/domain/delivery/deliveries.ts";
import { nextDueAt } from "../next-due-at.ts";
import { retryDelaySeconds, retryOrGiveUp } from "../../../../src/service/domain/delivery/retries.ts";
import {
  countDue,
  explainPerson,
  guardOverdue,
  isOverdueInBulk,
  pauseSending,
  pruneAttempts,
  readPause,
  resumeSending,
  summarizeQueue,
} from "../../../../src/service/domain/delivery/oversight.ts";
import { DELIVERY_STATES } from "../../../../src/service/domain/delivery/queue-rows.ts";
import type { AttemptFacts, DeliveryResult } from "../../../../src/service/domain/delivery/sender.ts";
import { cancelSurveys, deletePerson, sendPerson } from "../../../../src/service/domain/people/people.ts";
import type { DueSurvey } from "../../../../src/service/domain/ports.ts";
import { unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import { DAY, START, eventsQuery, memberInput, openFixture, peopleQuery, sendInput, type Fixture } from "../fixture.ts";
import { listBounces, listPeople } from "../lists.ts";
import { claimDue } from "../claim-due.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(async () => {
  const findings = await fixture.store.check();
  await fixture.store.close();
  if (findings.length > 0) throw new Error(findings.join(", "));
});

/** Survey ids start at 2, because the person has 1. */
const ID = 2;
const ALL_TIME = { since: null, until: null };
const send = () => fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "a@x.co" })));
const enrol = () => fixture.write((tx) => addMember(tx, fixture.project, memberInput({ personEmail: "a@x.co" })));
const claims = (claimer = "one", channel: Channel = "email") =>
  fixture.write((tx) => claimDue(tx, { claimer, channel, leaseSeconds: 60, limit: 9 }));
const claim = async (claimer = "one"): Promise<DueSurvey> => (await claims(claimer))[0]!;
const finish = (due: DueSurvey, result: DeliveryResult) => fixture.write((tx) => finishDelivery(tx, due, result));
const mark = (due: DueSurvey) => fixture.write((tx) => markTransmitting(tx, due));
const survey = async (id = ID) => {
  const found = await fixture.read((tx) => tx.deliveries.byId(1, id));
  const { state, dueAt, sentAt, reason, attempts } = found!;
  return { state, dueAt, sentAt, reason, attempts };
};
const person = async () => {
  const { rows } = await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery()));
  const bounces = await fixture.read((tx) => listBounces(tx, fixture.project, eventsQuery()));
  return [rows[0]?.last_sent_at, rows[0]?.next_survey_scheduled_at, bounces.length];
};
const sentCount = () => fixture.read((tx) => tx.requests.countSent(1, "email", ALL_TIME));
const log = () => fixture.read((tx) => tx.deliveries.attempts(1, ID, 9));
const attempt: AttemptFacts = {
  stage: "rcpt",
  code: 450,
  enhancedCode: "4.2.1",
  text: "try later",
  host: "mx.example.org",
  serverId: null,
  ms: 12,
};
const later = (seconds: number): void => void (fixture.time.now += seconds);
const NOW = START + 5;

describe("when a delivery ends", () => {
  test.each<[DeliveryResult, object, unknown[]]>([
    [{ kind: "sent" }, { state: "sent", sentAt: NOW, attempts: 1 }, [NOW, null, 0]],
    [{ kind: "bounced" }, { state: "bounced", attempts: 1 }, [null, null, 1]],
    [{ kind: "retry", delaySeconds: 45 }, { state: "retrying", dueAt: NOW + 45, attempts: 1 }, [null, START, 0]],
    [
      { kind: "failed", reason: "too big", attempt },
      { state: "failed", reason: "too big", attempts: 1 },
      [null, null, 0],
    ],
    [{ kind: "failed", reason: "too late" }, { state: "failed", reason: "too late" }, [null, null, 0]],
    [{ kind: "held", reason: "535" }, { state: "held", reason: "535" }, [null, START, 0]],
    [{ kind: "unknown" }, { state: "unknown", attempts: 1 }, [null, null, 0]],
    [{ kind: "released", delaySeconds: 30 }, { state: "scheduled", dueAt: NOW + 30 }, [null, START, 0]],
    [{ kind: "cancelled", reason: "STOP" }, { state: "cancelled", reason: "STOP" }, [null, null, 0]],
  ])("as %j, then its state is that, and the API shows what the specification has", async (result, expected, shown) => {
    await send();
    const due = await claim();
    later(5);
    await finish(due, result);
    const untouched = { dueAt: START, sentAt: null, reason: null, attempts: 0 };
    expect(await survey()).toEqual({ ...untouched, ...expected });
    expect(await person()).toEqual(shown);
    expect((await log()).map(({ outcome }) => outcome)).toEqual("attempt" in result ? [result.kind] : []);
  });

  it("then the log has what was said, without our tokens, and not too much of it", async () => {
    await send();
    const due = await claim();
    const text = `see https://x/u/${due.unsubscribeToken} and ${due.token} ${"x".repeat(600)}`;
    await finish(due, { kind: "retry", delaySeconds: 1, attempt: { ...attempt, text } });
    later(1);
    await finish(await claim(), {
      kind: "sent",
      attempt: { ...attempt, stage: "final-dot", code: 250, text: null, serverId: "Q1" },
    });
    const shared = { message: "survey", enhancedCode: "4.2.1", host: "mx.example.org", ms: 12 };
    const cut = `see https://x/u/[token] and [token] ${"x".repeat(600)}`.slice(0, 500);
    expect(await log()).toEqual([
      { ...shared, n: 1, at: START, stage: "rcpt", code: 450, text: cut, serverId: null, outcome: "retry" },
      { ...shared, n: 2, at: START + 1, stage: "final-dot", code: 250, text: null, serverId: "Q1", outcome: "sent" },
    ]);
  });

  it("then attempts count what was tried, and claims that were given back do not", async () => {
    await send();
    for (const kind of ["released", "released", "retry", "released"] as const) {
      await finish(await claim(), { kind, delaySeconds: 0 });
    }
    expect(await claim()).toMatchObject({ attempts: 1, firstAttemptAt: START, claims: 5 });
    expect(await survey()).toMatchObject({ state: "claimed", attempts: 1 });
  });
});

describe("when a message is marked", () => {
  it("then it is claimed by nobody else, and a dead claim cannot mark it", async () => {
    await send();
    const dead = await claim("dead");
    later(60);
    const due = await claim();
    expect([await mark(dead), await mark(due), await mark(due)]).toEqual([false, true, false]);
    expect(await survey()).toMatchObject({ state: "transmitting" });
    later(3600);
    expect([await claims(), await fixture.read((tx) => nextDueAt(tx))]).toEqual([[], null]);
  });

  it("then what it froze comes back with the next attempt, and the first stands", async () => {
    await send();
    const frozen = { messageId: "m1@x", bounceToken: "b1", values: { date: 1 } };
    const due = await claim();
    await fixture.write((tx) => markTransmitting(tx, due, frozen));
    await finish(due, { kind: "retry", delaySeconds: 0 });
    const again = await claim();
    expect(again.frozen).toEqual(frozen);
    await fixture.write((tx) => markTransmitting(tx, again, { messageId: "m2@x", bounceToken: null, values: {} }));
    await finish(again, { kind: "retry", delaySeconds: 0 });
    expect((await claim()).frozen).toEqual(frozen);
  });

  it("and its process dies, then it is unknown, and others are due again", async () => {
    await send();
    await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "b@x.co" })));
    const [marked] = await claims("dead");
    await mark(marked!);
    expect(await fixture.write((tx) => releaseDeadClaims(tx, ["one"]))).toBe(2);
    expect([await survey(), (await claims()).map(({ person: { email } }) => email)]).toEqual([
      { state: "unknown", dueAt: START, sentAt: null, reason: null, attempts: 1 },
      ["b@x.co"],
    ]);
  });

  it.each([
    ["email", "final-dot"],
    ["sms", "gateway"],
  ] as const)("and its process dies, then the log says so of %s at the stage %s", async (channel, stage) => {
    const input = sendInput({ channel, email: "a@x.co", phoneNumber: "+4917012345678" });
    await fixture.write((tx) => sendPerson(tx, fixture.project, input));
    const [marked] = await claims("dead", channel);
    await mark(marked!);
    await fixture.write((tx) => releaseDeadClaims(tx, ["one"]));
    const unsaid = { message: "survey", code: null, enhancedCode: null, host: null, serverId: null, ms: 0 };
    const text = "the service ended before a reply came";
    expect(await log()).toEqual([{ ...unsaid, n: 1, at: START, stage, text, outcome: "unknown" }]);
  });

  it("and unknown ones are to be sent again, then it is due at once after a death, and else at the first step", async () => {
    await send();
    await mark(await claim("dead"));
    await fixture.write((tx) => releaseDeadClaims(tx, ["one"], "resend"));
    const due = await claim();
    await fixture.write((tx) => finishDelivery(tx, due, { kind: "unknown" }, { onUnknown: "resend" }));
    expect(await survey()).toMatchObject({ state: "retrying", dueAt: START + 45, attempts: 2 });
  });

  it.each<[string, (due: DueSurvey) => Promise<unknown>]>([
    ["given up", (due) => finish(due, { kind: "failed", reason: "too late" })],
    ["cancelled", () => fixture.write((tx) => cancelSurveys(tx, fixture.project, { by: "email", email: "a@x.co" }))],
  ])(
    "and one that is to be sent again is %s, then the throttle counts from the time it may have arrived",
    async (_, end) => {
      await send();
      const due = await claim();
      await mark(due);
      await fixture.write((tx) => finishDelivery(tx, due, { kind: "unknown", attempt }, { onUnknown: "resend" }));
      expect((await log()).map(({ outcome }) => outcome)).toEqual(["unknown"]);
      later(3 * DAY);
      await end(await claim());
      expect((await send()).status).toEqual({ status: "throttled", since: START, until: START + 30 * DAY });
    },
  );

  it("and its person cancels, then it ends as it ends", async () => {
    await send();
    const due = await claim();
    await mark(due);
    await fixture.write((tx) => cancelSurveys(tx, fixture.project, { by: "email", email: "a@x.co" }));
    expect(await survey()).toMatchObject({ state: "transmitting" });
    await finish(due, { kind: "sent" });
    expect(await survey()).toMatchObject({ state: "sent" });
  });
});

const unknown = async (): Promise<DueSurvey> => {
  const due = await claim();
  later(2);
  await mark(due);
  later(3);
  await finish(due, { kind: "unknown" });
  later(100);
  return due;
};
const MARKED = START + 2;
const resolved = (as: "sent" | "resend") => fixture.write((tx) => resolveDelivery(tx, fixture.project, ID, as));

describe("when it is unknown whether a message arrived", () => {
  it("then it counts as sent once it is resolved so, once, at the time of its mark", async () => {
    await send();
    await unknown();
    expect([await sentCount(), await person()]).toEqual([0, [null, null, 0]]);
    await resolved("sent");
    expect([await sentCount(), await person(), await survey()]).toEqual([
      1,
      [MARKED, null, 0],
      { state: "sent", dueAt: START, sentAt: MARKED, reason: null, attempts: 1 },
    ]);
    await expect(resolved("sent")).rejects.toThrow("survey 2 is sent, not unknown");
    await expect(fixture.write((tx) => resolveDelivery(tx, fixture.project, 99, "sent"))).rejects.toThrow(
      "no survey 99",
    );
    expect(await sentCount()).toBe(1);
  });

  it("then it goes out again when it is resolved so, and counts once", async () => {
    await send();
    await unknown();
    await resolved("resend");
    await finish(await claim(), { kind: "sent" });
    expect([await sentCount(), await survey()]).toMatchObject([1, { state: "sent", attempts: 2 }]);
  });

  it("then one that is resent after many days is not too late, and has its 72 hours", async () => {
    await send();
    await unknown();
    later(30 * DAY);
    await resolved("resend");
    later(3 * DAY);
    const due = await claim();
    expect([await look(due), await survey()]).toMatchObject([null, { state: "claimed", attempts: 1 }]);
    const rules = { fraction: 0.5, leastSeconds: 0 };
    expect(retryOrGiveUp(due, { ...rules, now: fixture.time.now - 1 })).toEqual({ kind: "retry", delaySeconds: 300 });
    expect(retryOrGiveUp(due, { ...rules, now: fixture.time.now })).toMatchObject({ kind: "failed" });
    later(1);
    expect(await look(due)).toEqual({ kind: "failed", reason: "too late" });
  });

  test.each<[string, (due: DueSurvey) => Promise<unknown>]>([
    ["an answer", (due) => fixture.write((tx) => answerSurvey(tx, due.token, { score: 9, by: "button" }, DAY))],
    ["an unsubscribe", (due) => fixture.write((tx) => unsubscribeByLink(tx, due.unsubscribeToken))],
  ])("then %s by its link says that it did, once", async (_, work) => {
    await send();
    const due = await unknown();
    await work(due);
    await work(due);
    expect([await sentCount(), await survey()]).toMatchObject([1, { state: "sent", sentAt: MARKED }]);
  });

  it("then the person is not asked again within the throttle", async () => {
    await send();
    await unknown();
    expect((await send()).person.survey_scheduled_at).toBeNull();
    later(30 * DAY);
    expect((await send()).person.survey_scheduled_at).toBe(fixture.time.now);
  });
});

const FREQUENCY = 90 * DAY;
const next = async () => (await person())[1];

describe("when a survey of Autopilot", () => {
  test.each<[DeliveryResult, number | null]>([
    [{ kind: "sent" }, START + FREQUENCY],
    [{ kind: "failed", reason: "too big" }, START + FREQUENCY],
    [{ kind: "unknown" }, START + FREQUENCY],
    [{ kind: "held", reason: "535" }, START],
    [{ kind: "bounced" }, null],
  ])("ends as %j, then the next one is at %s", async (result, expected) => {
    await enrol();
    await finish(await claim(), result);
    expect(await next()).toBe(expected);
  });

  it("was unknown and is resolved, then no further one is scheduled", async () => {
    await enrol();
    const due = await claim();
    await mark(due);
    await finish(due, { kind: "unknown" });
    await fixture.write((tx) => resolveDelivery(tx, fixture.project, ID, "sent"));
    later(FREQUENCY);
    expect((await claims()).length).toBe(1);
  });

  it("was held and is released, then the next follows one frequency after it was sent", async () => {
    await enrol();
    await finish(await claim(), { kind: "held", reason: "535" });
    later(DAY);
    expect(await fixture.write((tx) => tx.deliveries.releaseHeld(9, { isOperator: true }))).toBe(1);
    await finish(await claim(), { kind: "sent" });
    expect(await next()).toBe(START + DAY + FREQUENCY);
  });

  it("may have arrived, and the person leaves and joins again, then one frequency lies between the two", async () => {
    await enrol();
    const due = await claim();
    await mark(due);
    await finish(due, { kind: "unknown" });
    later(DAY);
    await fixture.write((tx) => deleteMember(tx));
    await enrol();
    expect(await next()).toBe(START + FREQUENCY);
  });
});

async function deleteMember(tx: Parameters<Parameters<Fixture["write"]>[0]>[0]): Promise<void> {
  await tx.requests.cancel(1, 1, { channel: "email", autopilot: true });
  await tx.autopilot.deleteMember(1, "email", 1);
}

const look = (due: DueSurvey) => fixture.read((tx) => mayStillSend(tx, due, { maxAgeSeconds: 3 * DAY }));
const gone = { kind: "released", delaySeconds: 0 };

describe("when a message is looked at once more", () => {
  test.each<[string, () => Promise<unknown>, unknown]>([
    ["nothing has changed", () => Promise.resolve(), null],
    ["the person has unsubscribed", () => fixture.write((tx) => unsubscribe(tx, fixture.project, "a@x.co")), gone],
    [
      "the survey was cancelled",
      () => fixture.write((tx) => cancelSurveys(tx, fixture.project, { by: "email", email: "a@x.co" })),
      gone,
    ],
    ["the person is gone", () => fixture.write((tx) => deletePerson(tx, fixture.project, { by: "id", id: "1" })), gone],
    ["the project is paused", () => fixture.write((tx) => pauseSending(tx, fixture.project)), gone],
    ["all is paused", () => fixture.write((tx) => pauseSending(tx, null)), gone],
    ["it is three days late", async () => later(3 * DAY + 1), { kind: "failed", reason: "too late" }],
  ])("and %s, then it goes out only if it still may", async (_, work, expected) => {
    await send();
    const due = await claim();
    await work();
    expect(await look(due)).toEqual(expected);
  });

  it("and it was cancelled meanwhile, then it stays cancelled, and a sent one is sent", async () => {
    await send();
    const due = await claim();
    await fixture.write((tx) => unsubscribe(tx, fixture.project, "a@x.co"));
    await finish(due, gone as DeliveryResult);
    expect([await survey(), await claims()]).toMatchObject([{ state: "cancelled" }, []]);
  });
});

describe("when sending is paused", () => {
  test.each([["for the project"], ["for all"]])("%s, then nothing is claimed until it is resumed", async (which) => {
    const pause = (isPaused: boolean) =>
      fixture.write((tx) =>
        (isPaused ? pauseSending : resumeSending)(tx, which === "for all" ? null : fixture.project),
      );
    await pause(true);
    await send();
    expect([await claims(), await fixture.read((tx) => nextDueAt(tx))]).toEqual([[], null]);
    await pause(false);
    expect([await fixture.read((tx) => nextDueAt(tx)), (await claims()).length]).toEqual([START, 1]);
  });
});

const sendMany = (count: number) =>
  fixture.write(async (tx) => {
    for (let n = 0; n < count; n += 1)
      await sendPerson(tx, fixture.project, sendInput({ email: `${tx.now}.${n}@x.co` }));
  });
const guarded = async () => {
  await fixture.write(guardOverdue);
  return fixture.read(readPause);
};

describe("when surveys are overdue by a day", () => {
  const reason = "more than 50 surveys were due more than 24 hours ago";

  test.each([
    [19, false, null],
    [20, true, null],
    [50, true, null],
    [51, true, { at: START + DAY + 1, reason }],
  ])("and there are %i, then they are held from 20 on, and all is paused from 51 on", async (count, isBulk, pause) => {
    await sendMany(count);
    expect([await fixture.read(isOverdueInBulk), await guarded()]).toEqual([false, null]);
    later(DAY + 1);
    expect([await fixture.read(isOverdueInBulk), await guarded()]).toEqual([isBulk, pause]);
  });

  it("and an operator has resumed, then those that were due by then pause nothing again", async () => {
    await sendMany(51);
    later(DAY + 1);
    expect(await guarded()).not.toBe(null);
    await fixture.write((tx) => resumeSending(tx, null));
    expect(await guarded()).toBe(null);
    later(1);
    await sendMany(51);
    later(DAY + 1);
    expect(await guarded()).toEqual({ at: START + 2 * DAY + 3, reason });
  });
});

test("when the operator looks, then counts, a person's history and the oldest due survey are told", async () => {
  await send();
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "b@x.co" })));
  const [due] = await claims();
  await finish(due!, { kind: "retry", delaySeconds: 45, attempt });
  later(145);
  const none = Object.fromEntries(DELIVERY_STATES.map((name) => [name, 0]));
  expect(await fixture.read(summarizeQueue)).toEqual({
    states: { ...none, retrying: 1, claimed: 1 },
    waiting: { scheduled: 0, claimed: 1, transmitting: 0, retrying: 1, held: 0 },
    unknown: 0,
    oldestDueAt: START + 45,
    oldestDueSeconds: 100,
  });
  const { explanation, surveys } = await fixture.read((tx) => explainPerson(tx, fixture.project, "A@x.co"));
  expect([explanation, surveys.map(({ log: rows }) => rows.length)]).toEqual([
    "The newest survey (2) is retrying. The last attempt ended at rcpt: 450 4.2.1 try later.",
    [1],
  ]);
});

test.each(["project", "service"] as const)("when the %s is paused, then a due survey keeps its age", async (what) => {
  await send();
  await fixture.write((tx) => pauseSending(tx, what === "project" ? fixture.project : null));
  later(100);
  const none = Object.fromEntries(DELIVERY_STATES.map((name) => [name, 0]));
  expect(await fixture.read(summarizeQueue)).toEqual({
    states: { ...none, scheduled: 1 },
    waiting: { scheduled: 1, claimed: 0, transmitting: 0, retrying: 0, held: 0 },
    unknown: 0,
    oldestDueAt: START,
    oldestDueSeconds: 100,
  });
  expect([await fixture.read(countDue), await fixture.read((tx) => nextDueAt(tx))]).toEqual([1, null]);
});

test.each([
  [1, 45],
  [2, 300],
  [3, 900],
  [4, 1800],
  [5, 3600],
  [6, 7200],
  [7, 14_400],
  [40, 14_400],
])("when a message was tried %i times, then it waits %i seconds, 15 %% more or less", (attempts, seconds) => {
  const delays = [0, 0.5, 1].map((fraction) => retryDelaySeconds(attempts, fraction));
  expect(delays).toEqual([seconds * 0.85, seconds, seconds * 1.15].map(Math.round));
});

const at = (now: number, leastSeconds?: number) =>
  retryOrGiveUp(
    { attempts: 2, scheduledAt: START - DAY, firstAttemptAt: START },
    { now, fraction: 0.5, ...(leastSeconds === undefined ? {} : { leastSeconds }) },
  );

test("when 72 hours have passed since the first attempt, then a message is given up", () => {
  expect([at(START + 3 * DAY - 1), at(START + 9, 7000), at(START + 3 * DAY)]).toEqual([
    { kind: "retry", delaySeconds: 900 },
    { kind: "retry", delaySeconds: 7000 },
    { kind: "failed", reason: "not accepted within 72 hours" },
  ]);
});

const prune = () => fixture.write((tx) => pruneAttempts(tx, 1));

test("when attempts are 90 days old, then they are forgotten, but for what made somebody bounce", async () => {
  await send();
  await finish(await claim(), { kind: "retry", delaySeconds: 0, attempt });
  await finish(await claim(), { kind: "bounced", attempt });
  later(90 * DAY);
  expect([await prune(), (await log()).length]).toEqual([false, 2]);
  later(1);
  expect([await prune(), await prune(), (await log()).map(({ outcome }) => outcome)]).toEqual([
    true,
    false,
    ["bounced"],
  ]);
});

const release = () => fixture.write((tx) => tx.deliveries.releaseHeld(2, { isOperator: true }));

test("when held surveys are released, then some go at a time, in the order in which they were due", async () => {
  for (const email of ["c@x.co", "b@x.co", "a@x.co"])
    await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email })));
  for (const due of await claims()) await finish(due, { kind: "held", reason: "535" });
  later(60);
  expect([await release(), await release(), await release()]).toEqual([2, 1, 0]);
  expect((await claims()).map(({ person: { email } }) => email)).toEqual(["c@x.co", "b@x.co", "a@x.co"]);
});
