import { afterEach, beforeEach, expect, it } from "vitest";
import type { Clock } from "../../../src/runtime/clock.ts";
import type { DeliveryOutcome, DeliveryProgress, DeliveryResult } from "../../../src/service/domain/delivery/sender.ts";
import type { DueSurvey, Store } from "../../../src/service/domain/ports.ts";
import { addMember } from "../../../src/service/domain/autopilot.ts";
import { deletePerson, sendPerson } from "../../../src/service/domain/people.ts";
import { createScheduler, type Scheduler } from "../../../src/service/scheduler/scheduler.ts";
import { openFixture, sendInput, type Fixture } from "../domain/fixture.ts";

interface Nap {
  readonly ms: number;
  readonly end: () => void;
}

interface World {
  readonly fixture: Fixture;
  readonly delivered: string[];
  readonly erased: number[];
  readonly naps: Nap[];
  readonly errors: unknown[];
  outcome: DeliveryOutcome;
  /** How many messages the sender takes. */
  capacity: number;
  /** What the sender does with a message; in place of `outcome`. */
  deliver: ((due: DueSurvey, progress: DeliveryProgress) => Promise<DeliveryResult>) | null;
  create(claimer?: string, store?: Store): Scheduler;
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
  const self: World = {
    fixture,
    delivered: [],
    erased: [],
    naps,
    errors: [],
    outcome: { kind: "sent" },
    capacity: 64,
    deliver: null,
    create: (claimer = "one", store = fixture.store) => {
      const scheduler = createScheduler({
        store,
        clock,
        claimer,
        senders: [
          {
            name: "test",
            channels: ["email", "sms"],
            capacity: () => self.capacity,
            deliver: async (due, progress) => {
              self.delivered.push(due.person.email ?? "");
              return self.deliver?.(due, progress) ?? self.outcome;
            },
            erase: async (surveys) => void self.erased.push(...surveys.map(({ requestId }) => requestId)),
          },
        ],
        maxAgeSeconds: 3 * 86_400,
        onUnknown: "hold",
        onOutcome: () => undefined,
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
  await world().fixture.write((tx) =>
    tx.requests.claimDue({ claimer: "dead", channel: "email", leaseSeconds: 3600, limit: 10 }),
  );
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
  expect((await world().asleep(1)).ms).toBe(2_000);
  expect(world().errors).toHaveLength(1);
  state.world = await openWorld();
});

it("when the store fails after a delivery, then it is recorded later and not delivered again", async () => {
  await schedule("a@x.co", 0);
  const { store } = world().fixture;
  const failures = { left: 2 };
  const flaky: Store = {
    ...store,
    write: (work) => {
      if (world().delivered.length > 0 && failures.left-- > 0) return Promise.reject(new Error("the disk is full"));
      return store.write(work);
    },
  };
  world().create("one", flaky).start();
  for (const turn of [1, 2]) {
    const nap = await world().asleep(turn);
    expect(nap.ms).toBe(2_000);
    nap.end();
  }
  await world().asleep(3);
  expect(world().delivered).toEqual(["a@x.co"]);
  expect(await store.read((tx) => tx.requests.nextDueAt(["email"]))).toBe(null);
});

it("when a person with a sent survey is deleted, then what is left of the message is erased once", async () => {
  await schedule("a@x.co", 0);
  const scheduler = world().create();
  scheduler.start();
  await world().asleep(1);
  await world().fixture.write((tx) => deletePerson(tx, world().fixture.project, { by: "email", email: "a@x.co" }));
  scheduler.wake();
  await world().asleep(2);
  scheduler.wake();
  await world().asleep(3);
  expect(world().erased).toHaveLength(1);
});

it("when the clock is set back, then what is due now is still delivered now", async () => {
  await schedule("a@x.co", 0);
  world().fixture.time.now -= 86_400;
  await schedule("b@x.co", 0);
  world().create().start();
  await world().asleep(1);
  expect(world().delivered).toEqual(["a@x.co", "b@x.co"]);
});
