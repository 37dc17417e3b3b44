import { afterEach, beforeEach, expect, it } from "vitest";
import type { Clock } from "../../../src/runtime/clock.ts";
import type { DeliveryOutcome } from "../../../src/service/domain/delivery.ts";
import type { DueSurvey } from "../../../src/service/domain/ports.ts";
import { addMember } from "../../../src/service/domain/autopilot.ts";
import { sendPerson } from "../../../src/service/domain/people.ts";
import { createScheduler, type Scheduler } from "../../../src/service/scheduler/scheduler.ts";
import { openFixture, sendInput, type Fixture } from "../domain/fixture.ts";

interface Nap {
  readonly ms: number;
  readonly end: () => void;
}

interface World {
  readonly fixture: Fixture;
  readonly delivered: string[];
  readonly naps: Nap[];
  readonly errors: unknown[];
  outcome: DeliveryOutcome;
  create(claimer?: string): Scheduler;
  /** Resolves when the scheduler has gone to sleep for the `count`th time. */
  asleep(count: number): Promise<Nap>;
}

const state: { world?: World; running: Scheduler[] } = { running: [] };
const world = (): World => state.world as World;

async function openWorld(): Promise<World> {
  const fixture = await openFixture();
  const naps: Nap[] = [];
  const clock: Clock = {
    now: () => fixture.time.now * 1000,
    monotonic: () => fixture.time.now * 1000,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        naps.push({ ms, end: resolve });
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  };
  const deliver = async (surveys: readonly DueSurvey[]): Promise<DeliveryOutcome[]> => {
    self.delivered.push(...surveys.map(({ person }) => person.email ?? ""));
    return surveys.map(() => self.outcome);
  };
  const self: World = {
    fixture,
    delivered: [],
    naps,
    errors: [],
    outcome: { kind: "sent" },
    create: (claimer = "one") => {
      const scheduler = createScheduler({
        store: fixture.store,
        clock,
        claimer,
        deliver,
        onError: (error) => self.errors.push(error),
      });
      state.running.push(scheduler);
      return scheduler;
    },
    asleep: async (count) => {
      while (naps.length < count) await new Promise((resolve) => setImmediate(resolve));
      return naps[count - 1] as Nap;
    },
  };
  return self;
}

beforeEach(async () => {
  state.world = await openWorld();
});
afterEach(async () => {
  for (const scheduler of state.running.splice(0)) await scheduler.stop();
  await world().fixture.store.close();
});

const schedule = (email: string, delaySeconds: number): Promise<unknown> =>
  world().fixture.write((tx) => sendPerson(tx, world().fixture.project, sendInput({ email, delaySeconds })));

it("when nothing waits, then it sleeps long and wakes when something is scheduled", async () => {
  const scheduler = world().create();
  scheduler.start();
  expect((await world().asleep(1)).ms).toBe(60_000);
  await schedule("a@x.co", 0);
  scheduler.wake();
  await world().asleep(2);
  expect(world().delivered).toEqual(["a@x.co"]);
});

it("when a survey is due later, then it sleeps until that moment and delivers once", async () => {
  await schedule("a@x.co", 45);
  world().create().start();
  const nap = await world().asleep(1);
  expect([nap.ms, world().delivered]).toEqual([45_000, []]);
  world().fixture.time.now += 45;
  nap.end();
  await world().asleep(2);
  expect(world().delivered).toEqual(["a@x.co"]);
});

it("when many are due, then each is delivered once, over several batches", async () => {
  const emails = Array.from({ length: 150 }, (_, index) => `p${index}@x.co`);
  for (const email of emails) await schedule(email, 0);
  world().create().start();
  await world().asleep(1);
  expect(world().delivered.toSorted()).toEqual(emails.toSorted());
});

it("when a scheduler died between claiming and recording, then the next one finds the claim again", async () => {
  await schedule("a@x.co", 0);
  await world().fixture.write((tx) => tx.requests.claimDue({ claimer: "dead", leaseSeconds: 3600, limit: 10 }));
  world().create("living").start();
  await world().asleep(1);
  expect(world().delivered).toEqual(["a@x.co"]);
});

it("when delivery must wait, then it is tried again after that time", async () => {
  world().outcome = { kind: "retry", delaySeconds: 15 };
  await schedule("a@x.co", 0);
  world().create().start();
  const nap = await world().asleep(1);
  expect([nap.ms, world().delivered]).toEqual([15_000, ["a@x.co"]]);
  world().outcome = { kind: "sent" };
  world().fixture.time.now += 15;
  nap.end();
  await world().asleep(2);
  expect(world().delivered).toEqual(["a@x.co", "a@x.co"]);
});

it("when an Autopilot survey was sent, then the next follows one frequency later", async () => {
  const { fixture } = world();
  const member = {
    platform: "email",
    personId: null,
    personEmail: "a@x.co",
    personPhoneNumber: null,
    personName: null,
    properties: null,
  } as const;
  await fixture.write((tx) => addMember(tx, fixture.project, member));
  world().create().start();
  const nap = await world().asleep(1);
  expect(world().delivered).toEqual(["a@x.co"]);
  fixture.time.now += 90 * 86_400;
  nap.end();
  await world().asleep(2);
  expect(world().delivered).toEqual(["a@x.co", "a@x.co"]);
});

it("when it is finished, then what is due goes out and what is later stays", async () => {
  await schedule("now@x.co", 0);
  await schedule("later@x.co", 10);
  await world().create().finish();
  expect(world().delivered).toEqual(["now@x.co"]);
});

it("when the store fails, then it says so and tries again", async () => {
  await world().fixture.store.close();
  world().create().start();
  expect((await world().asleep(1)).ms).toBe(5_000);
  expect(world().errors).toHaveLength(1);
  state.world = await openWorld();
});
