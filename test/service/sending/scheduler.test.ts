import { claimSome } from "../../../src/service/domain/delivery/claims.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../../../src/runtime/clock.ts";
import {
  ClaimLostError,
  type DeliveryOutcome,
  type DeliveryProgress,
  type DeliveryResult,
} from "../../../src/service/domain/delivery/sender.ts";
import type { DueSurvey, Store } from "../../../src/service/domain/ports.ts";
import { addMember } from "../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { deletePerson, sendPerson } from "../../../src/service/domain/people/people.ts";
import { unsubscribe } from "../../../src/service/domain/people/suppressions.ts";
import { Heartbeat, livingProcesses } from "../../../src/service/sending/heartbeat.ts";
import { Scheduler } from "../../../src/service/sending/scheduler.ts";
import { openFixture, sendInput, type Fixture } from "../domain/fixture.ts";
import { deliveriesOf } from "../domain/lists.ts";

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
  readonly overdue: number[];
  outcome: DeliveryOutcome;
  /** Seconds by which the machine's clock is ahead of the store's. */
  ahead: number;
  capacity: number;
  deliver: ((due: DueSurvey, progress: DeliveryProgress) => Promise<DeliveryResult>) | null;
  create(claimer?: string, store?: Store): Scheduler;
  asleep(count: number): Promise<Nap>;
}

const state: { world?: World; running: Scheduler[] } = { running: [] };
const world = (): World => state.world as World;

async function openWorld(): Promise<World> {
  const fixture = await openFixture();
  const naps: Nap[] = [];
  const clock: Clock = {
    now: () => (fixture.time.now + self.ahead) * 1000,
    monotonic: () => fixture.time.now * 1000,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        // Sleeps this short end immediately; tests only end longer ones.
        if (ms <= 1000) setImmediate(resolve);
        else naps.push({ ms, end: resolve });
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  };
  const self: World = {
    fixture,
    delivered: [],
    erased: [],
    naps,
    errors: [],
    overdue: [],
    ahead: 0,
    outcome: { kind: "sent" },
    capacity: 64,
    deliver: null,
    create: (claimer = "one", store = fixture.store) => {
      const scheduler = new Scheduler({
        // With a manual clock, the poll for other processes' changes would never come.
        store: { ...store, pollSeconds: 86_400 },
        clock,
        claimer,
        heartbeat: new Heartbeat({ store, clock, claimer, onUnknown: "hold" }),
        senders: [
          {
            name: "test",
            channels: ["email", "sms"],
            capacity: () => self.capacity,
            deliver: async (due, progress) => {
              if (!("autopilot" in due)) throw new TypeError("not a survey");
              self.delivered.push(due.person.email ?? "");
              return self.deliver?.(due, progress) ?? self.outcome;
            },
          },
        ],
        files: {
          erase: async (surveys) => {
            self.erased.push(...surveys.map(({ requestId }) => requestId));
            return { removed: surveys.length, surveys };
          },
        },
        maxAgeSeconds: 3 * 86_400,
        onUnknown: "hold",
        onOutcome: () => undefined,
        onOverdue: (held) => self.overdue.push(held),
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

describe.each([-2 * 86_400, -60, 3, 60])("when the machine's clock is %d seconds ahead of the store's", (ahead) => {
  it("then it sleeps until a survey is due by the store's time", async () => {
    world().ahead = ahead;
    await schedule("a@x.co", 45);
    world().create().start();
    expect([(await world().asleep(1)).ms, world().delivered]).toEqual([45_000, []]);
  });

  it("then it wakes for what is due by the store's time", async () => {
    world().ahead = ahead;
    const scheduler = world().create();
    scheduler.start();
    await world().asleep(1);
    await schedule("a@x.co", 0);
    scheduler.wake(world().fixture.time.now);
    await world().asleep(2);
    expect(world().delivered).toEqual(["a@x.co"]);
  });
});

it("when a turn takes long, then the process stays one that lives", async () => {
  const { fixture } = world();
  world().capacity = 1;
  const living: string[][] = [];
  world().deliver = async () => {
    living.push([...(await livingProcesses(fixture.store))]);
    fixture.time.now += 20;
    return { kind: "sent" };
  };
  for (const email of ["a@x.co", "b@x.co", "c@x.co"]) await schedule(email, 0);
  await world().create().finish();
  expect(living).toEqual([["one"], ["one"], ["one"]]);
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
    claimSome(tx, { project: 1, claimer: "dead", channel: "email", leaseSeconds: 3600, limit: 10 }),
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
      return store.write(work, { project: "all" });
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
  expect(await store.read((tx) => tx.queue.nextDueAt([{ channel: "email", withPaused: false }]))).toBe(null);
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

it("a survey that is asked for after the clock was set back leaves by that clock", async () => {
  await schedule("a@x.co", 0);
  world().fixture.time.now -= 86_400;
  await schedule("b@x.co", 5);
  world().fixture.time.now += 5;
  world().create().start();
  await world().asleep(1);
  expect(world().delivered).toEqual(["b@x.co"]);
});

function holdMessages(): { readonly progress: DeliveryProgress[]; readonly end: ((result: DeliveryResult) => void)[] } {
  const held = { progress: [] as DeliveryProgress[], end: [] as ((result: DeliveryResult) => void)[] };
  world().deliver = (_, progress) => {
    held.progress.push(progress);
    return new Promise((resolve) => void held.end.push(resolve));
  };
  return held;
}

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
};

const states = async (): Promise<string[]> => {
  const rows = await world().fixture.read((tx) => deliveriesOf(tx, 1));
  return rows.map(({ state: name }) => name);
};
const eventually = async (expected: readonly string[]): Promise<void> => {
  for (let turn = 0; turn < 200 && (await states()).join() !== expected.join(); turn += 1)
    await new Promise((resolve) => setImmediate(resolve));
  expect(await states()).toEqual(expected);
};

describe("when messages take their time", () => {
  it("then each is recorded as soon as it ends, and the others stay in hand", async () => {
    for (const email of ["a@x.co", "b@x.co"]) await schedule(email, 0);
    const held = holdMessages();
    world().create().start();
    await until(() => held.end.length === 2);
    held.end[1]?.({ kind: "sent" });
    await eventually(["claimed", "sent"]);
    held.end[0]?.({ kind: "held", reason: "535" });
    await eventually(["held", "sent"]);
    expect(world().delivered).toEqual(["a@x.co", "b@x.co"]);
  });

  it("then their leases are renewed, so that none is sent twice", async () => {
    await schedule("a@x.co", 0);
    const held = holdMessages();
    world().create().start();
    for (let turn = 1; turn <= 20; turn += 1) {
      const nap = await world().asleep(turn);
      expect(nap.ms).toBe(10_000);
      world().fixture.time.now += 10;
      nap.end();
    }
    await world().asleep(21);
    expect([world().delivered, await states()]).toEqual([["a@x.co"], ["claimed"]]);
    held.end[0]?.({ kind: "sent" });
    await eventually(["sent"]);
  });

  it("then no more are claimed than the sender takes, and another follows each that ends", async () => {
    for (const email of ["a@x.co", "b@x.co", "c@x.co"]) await schedule(email, 0);
    world().capacity = 2;
    const held = holdMessages();
    world().create().start();
    await world().asleep(1);
    expect(await states()).toEqual(["claimed", "claimed", "scheduled"]);
    held.end[0]?.({ kind: "sent" });
    await eventually(["sent", "claimed", "claimed"]);
    for (const end of held.end) end({ kind: "sent" });
  });

  it("and the sender takes none, then nothing is claimed until it says that it does", async () => {
    await schedule("a@x.co", 0);
    world().capacity = 0;
    const scheduler = world().create();
    scheduler.start();
    expect([(await world().asleep(1)).ms, await states()]).toEqual([60_000, ["scheduled"]]);
    world().capacity = 1;
    scheduler.wake();
    await eventually(["sent"]);
  });

  it("and a person is deleted meanwhile, then what is left of the message is erased after its end", async () => {
    await schedule("a@x.co", 0);
    const held = holdMessages();
    const scheduler = world().create();
    scheduler.start();
    await world().asleep(1);
    await world().fixture.write((tx) => deletePerson(tx, world().fixture.project, { by: "email", email: "a@x.co" }));
    scheduler.wake();
    await world().asleep(2);
    expect(world().erased).toEqual([]);
    held.end[0]?.({ kind: "sent" });
    await until(() => world().erased.length === 1);
  });
});

describe("when a sender asks and tells on its way", () => {
  it("then a message whose person has unsubscribed does not go out, and what the sender says of it is ignored", async () => {
    await schedule("a@x.co", 0);
    const held = holdMessages();
    world().create().start();
    await until(() => held.end.length === 1);
    expect(await held.progress[0]?.mayStillSend()).toBe(true);
    await world().fixture.write((tx) => unsubscribe(tx, world().fixture.project, "a@x.co"));
    expect(await held.progress[0]?.mayStillSend()).toBe(false);
    await expect(held.progress[0]?.transmitting()).rejects.toThrow(ClaimLostError);
    held.end[0]?.({ kind: "sent" });
    await eventually(["cancelled"]);
    expect(await world().fixture.read((tx) => tx.requests.countSent(1, "email", { since: null, until: null }))).toBe(0);
  });

  it("then a message that is too late is given up", async () => {
    await schedule("a@x.co", 0);
    world().deliver = async (_, progress) => {
      expect(await progress.mayStillSend()).toBe(false);
      return { kind: "sent" };
    };
    world().fixture.time.now += 3 * 86_400 + 1;
    world().create().start();
    await eventually(["failed"]);
  });

  it.each([
    ["before its mark", false, "scheduled"],
    ["after its mark", true, "unknown"],
  ])("and it throws %s, then the message is put back only if it cannot have gone", async (_, isMarked, expected) => {
    await schedule("a@x.co", 0);
    world().deliver = async (__, progress) => {
      if (isMarked) await progress.transmitting();
      throw new Error("the sender is broken");
    };
    world().create().start();
    await until(() => world().errors.length === 1);
    await eventually([expected]);
    expect(world().errors.map(String)).toEqual(["Error: the sender is broken"]);
  });

  it("and the mark cannot be stored, then it is told, and the message is put back", async () => {
    await schedule("a@x.co", 0);
    const { store } = world().fixture;
    const disk = { isFull: false };
    const flaky: Store = {
      ...store,
      write: (work) =>
        disk.isFull ? Promise.reject(new Error("the disk is full")) : store.write(work, { project: "all" }),
    };
    world().deliver = async (_, progress) => {
      disk.isFull = true;
      await progress.transmitting().finally(() => {
        disk.isFull = false;
      });
      return { kind: "sent" };
    };
    world().create("one", flaky).start();
    await until(() => world().errors.length === 1);
    await eventually(["scheduled"]);
    expect(world().errors.map(String)).toEqual(["Error: the disk is full"]);
  });
});

describe("when it is stopped", () => {
  it("then transmissions end first, and each is recorded as it does", async () => {
    for (const email of ["a@x.co", "b@x.co"]) await schedule(email, 0);
    const held = holdMessages();
    const scheduler = world().create();
    scheduler.start();
    await world().asleep(1);
    const stopped = scheduler.stop();
    expect((await world().asleep(2)).ms).toBe(30_000);
    await schedule("c@x.co", 0);
    held.end[0]?.({ kind: "sent" });
    await eventually(["sent", "claimed", "scheduled"]);
    held.end[1]?.({ kind: "bounced" });
    await stopped;
    expect([await states(), world().delivered]).toEqual([
      ["sent", "bounced", "scheduled"],
      ["a@x.co", "b@x.co"],
    ]);
  });

  it("and they do not end, then without a mark they are put back, and ten seconds later the others are unknown", async () => {
    for (const email of ["a@x.co", "b@x.co"]) await schedule(email, 0);
    const held = holdMessages();
    const scheduler = world().create();
    scheduler.start();
    await world().asleep(1);
    await held.progress[1]?.transmitting();
    const stopped = scheduler.stop();
    (await world().asleep(2)).end();
    const nap = await world().asleep(3);
    expect([nap.ms, held.progress.map(({ signal }) => signal.aborted)]).toEqual([10_000, [true, false]]);
    await expect(held.progress[0]?.transmitting()).rejects.toThrow(ClaimLostError);
    nap.end();
    await stopped;
    expect(await states()).toEqual(["scheduled", "unknown"]);
    for (const end of held.end) end({ kind: "sent" });
    await new Promise((resolve) => setImmediate(resolve));
    expect(await states()).toEqual(["scheduled", "unknown"]);
  });
});

const totals = async (): Promise<Readonly<Record<string, number>>> => {
  const counts = await world().fixture.read((tx) => tx.deliveries.counts());
  return Object.fromEntries(counts.map(({ state: name, count }) => [name, count]));
};
const addMany = async (count: number, thenSeconds: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await schedule(`p${n}@x.co`, 0);
  world().fixture.time.now += thenSeconds;
};
const release = (isOperator: boolean): Promise<number> =>
  world().fixture.write((tx) => tx.deliveries.releaseHeld(500, { isOperator }));
const run = async (begin: () => void): Promise<void> => {
  const count = world().naps.length + 1;
  begin();
  await world().asleep(count);
};

describe("when surveys were due long before the service starts", () => {
  const TOO_OLD = 3 * 86_400 + 1;
  beforeEach(() => {
    world().deliver = async (_due, progress) =>
      (await progress.mayStillSend()) ? { kind: "sent" } : { kind: "cancelled", reason: "withdrawn" };
  });
  it("and they are many and too old, then they are held, this is said once, and the operator sends them", async () => {
    await addMany(20, TOO_OLD);
    await schedule("new@x.co", 0);
    const first = world().create();
    await run(() => first.start());
    expect([await totals(), world().overdue]).toEqual([{ held: 20, sent: 1 }, [20]]);
    await first.stop();
    const second = world().create("two");
    await run(() => second.start());
    expect([await release(false), await release(true)]).toEqual([0, 20]);
    await run(() => second.wake());
    expect([await totals(), world().overdue]).toEqual([{ sent: 21 }, [20]]);
  });

  it("and the operator has released them, then a restart does not hold them again", async () => {
    await addMany(20, TOO_OLD);
    world().capacity = 0;
    const first = world().create();
    await run(() => first.start());
    await release(true);
    await first.stop();
    world().capacity = 64;
    await run(() => world().create("two").start());
    expect([await totals(), world().overdue]).toEqual([{ sent: 20 }, [20]]);
  });

  it("and they are few, then those too old are given up", async () => {
    await addMany(19, TOO_OLD);
    await run(() => world().create().start());
    expect([await totals(), world().overdue]).toEqual([{ failed: 19 }, []]);
  });

  it("and they are many but not too old, then they are sent", async () => {
    await addMany(20, 2 * 86_400);
    await run(() => world().create().start());
    expect([await totals(), world().overdue]).toEqual([{ sent: 20 }, []]);
  });
});
