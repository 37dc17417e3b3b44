/** Races everything that cancels a reminder against the reminder itself, with a seeded interleaving. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Clock, nextTurn } from "../../../src/runtime/clock.ts";
import { answerSurvey } from "../../../src/service/domain/answers/answers.ts";
import { addResponse } from "../../../src/service/domain/answers/responses.ts";
import { changeReminder } from "../../../src/service/domain/delivery/reminders.ts";
import type { DeliveryProgress, DeliveryResult } from "../../../src/service/domain/delivery/sender.ts";
import { deletePerson, sendPerson } from "../../../src/service/domain/people/people.ts";
import { recordBounce, stopTexts, unsubscribe } from "../../../src/service/domain/people/suppressions.ts";
import type { DueQuestion } from "../../../src/service/domain/ports.ts";
import { setThrottle } from "../../../src/service/domain/projects/projects.ts";
import { Scheduler } from "../../../src/service/sending/scheduler.ts";
import { size } from "../../helpers/long.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";
import { DAY, type Fixture, links, openFixture, responseInput, sendInput } from "../domain/fixture.ts";

const RACES = size(80, 1000);
const FACTS = ["answer", "response", "unsubscribe", "STOP", "bounce", "erase", "send"] as const;
type Fact = (typeof FACTS)[number];

interface Race {
  readonly chance: () => number;
  turn: number;
  survey: DueQuestion | null;
  markedAt: number;
  factAt: number;
  secondAt: number;
  readonly reminders: string[];
}

let fixture: Fixture;
let scheduler: Scheduler;
let race: Race;

beforeEach(async () => {
  fixture = await openFixture();
  await fixture.write(async (tx) => {
    await setThrottle(tx, fixture.project, null);
    await changeReminder(tx, fixture.project, { after: 5 * DAY });
  });
  scheduler = openScheduler();
});
afterEach(() => fixture.store.close());

async function someTurns(): Promise<void> {
  for (let left = Math.floor(race.chance() * 12); left > 0; left -= 1) await nextTurn();
}

function openScheduler(): Scheduler {
  const now = (): number => fixture.time.now * 1000;
  const clock: Clock = { now, monotonic: now, sleep: () => nextTurn() };
  return new Scheduler({
    store: fixture.store,
    clock,
    claimer: "races",
    heartbeat: { beat: async () => undefined, isLeader: () => true, end: async () => undefined },
    senders: [
      {
        name: "races",
        channels: ["email", "sms", "reminder", "sms-reminder"],
        capacity: () => 10,
        deliver: (due, progress) => carry(due as DueQuestion, progress),
      },
    ],
    maxAgeSeconds: null,
    onUnknown: "hold",
    onOutcome: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
}

async function carry(due: DueQuestion, progress: DeliveryProgress): Promise<DeliveryResult> {
  const isReminder = "survey" in due;
  if (!isReminder && race.survey === null) {
    race.survey = due;
    await progress.transmitting();
    return { kind: "sent" };
  }
  await someTurns();
  if (!(await progress.mayStillSend())) return { kind: "cancelled", reason: "withdrawn" };
  await someTurns();
  if (isReminder && race.chance() < 0.1) return { kind: "retry", delaySeconds: 60 };
  const markedAt = (race.turn += 1);
  await progress.transmitting();
  if (isReminder) race.reminders.push(due.token);
  else race.secondAt = race.turn += 1;
  if (due.token === race.survey?.token) race.markedAt = markedAt;
  await someTurns();
  return isReminder && race.chance() < 0.2 ? { kind: "unknown" } : { kind: "sent" };
}

async function happen(fact: Fact, { person, token }: DueQuestion): Promise<void> {
  const { project } = fixture;
  const write: Fixture["write"] = (work) => fixture.write(work);
  const { id, email, phoneNumber } = person;
  await someTurns();
  await someTurns();
  if (fact === "answer") await write((tx) => answerSurvey(tx, token, { score: 9, by: "button" }, DAY));
  if (fact === "response")
    await write((tx) => addResponse(tx, project, responseInput({ personId: String(id), score: 3 }), links));
  if (fact === "unsubscribe") await write((tx) => unsubscribe(tx, project, email ?? ""));
  if (fact === "STOP") await write((tx) => stopTexts(tx, project, phoneNumber ?? ""));
  if (fact === "bounce") await write((tx) => recordBounce(tx, project, id));
  if (fact === "erase")
    await write((tx) =>
      deletePerson(tx, project, email === null ? { by: "id", id: String(id) } : { by: "email", email }),
    );
  if (fact === "send")
    await write((tx) =>
      sendPerson(tx, project, sendInput(email === null ? { phoneNumber, channel: "sms" } : { email })),
    );
  race.factAt = race.turn += 1;
}

async function run(seed: number): Promise<{ readonly fact: Fact; readonly came: "before" | "after" | "never" }> {
  const chance = seededRandom(seed);
  race = { chance, turn: 0, survey: null, markedAt: 0, factAt: 0, secondAt: 0, reminders: [] };
  const fact = FACTS[seed % FACTS.length] as Fact;
  const isText = fact === "STOP" || (!["unsubscribe", "bounce"].includes(fact) && chance() < 0.4);
  const whom = isText
    ? ({ phoneNumber: `+1415555${String(seed).padStart(4, "0")}`, channel: "sms" } as const)
    : { email: `p${seed}@x.co` };
  await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput(whom)));
  await scheduler.finish();
  fixture.time.now += 5 * DAY;
  await Promise.all([scheduler.finish(), happen(fact, race.survey as unknown as DueQuestion)]);
  for (const days of [1, 1, 4, 30]) {
    fixture.time.now += days * DAY;
    await scheduler.finish();
  }
  expect({ seed, fact, tokens: race.reminders }).toEqual({ seed, fact, tokens: [...new Set(race.reminders)] });
  const factAt = fact === "send" ? race.secondAt : race.factAt;
  return { fact, came: race.markedAt === 0 ? "never" : factAt < race.markedAt ? "after" : "before" };
}

test(
  "when a reminder is on its way and something ends it, then it never comes after that, and never twice",
  async () => {
    const came = { before: 0, never: 0, after: [] as string[] };
    for (let seed = 1; seed <= RACES; seed += 1) {
      const outcome = await run(seed);
      if (outcome.came === "after") came.after.push(`${outcome.fact} (${seed})`);
      else came[outcome.came] += 1;
    }
    expect(came.after).toEqual([]);
    // Makes sure that both orders occur.
    expect(Math.min(came.before, came.never)).toBeGreaterThan(0);
  },
  size(60_000, 900_000),
);
