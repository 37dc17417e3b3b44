import { afterEach, beforeEach, expect, test } from "vitest";
import { createWakeLoop, type WakeLoop } from "../../src/runtime/wake-loop.ts";
import { createFakeClock, type FakeClock } from "../helpers/fake-clock.ts";

const START = Date.UTC(2026, 0, 1) / 1000;
const DUE = 30;

let clock: FakeClock;
let loop: WakeLoop;
let turns: number[];
let duringFirstTurn: () => void;
const seconds = (count: number): Promise<void> => clock.sleep(count * 1000);

beforeEach(() => {
  clock = createFakeClock(START * 1000);
  turns = [];
  duringFirstTurn = () => undefined;
  loop = createWakeLoop(
    clock,
    async () => {
      turns.push(clock.now() / 1000 - START);
      if (turns.length === 1) duringFirstTurn();
      return START + DUE + (turns.at(-1)! < DUE ? 0 : 1000);
    },
    (error) => {
      throw error;
    },
  );
});

afterEach(async () => loop.stop());

test("when nobody wakes it, then it works again when work is due", async () => {
  loop.start();
  await seconds(DUE + 5);
  expect(turns).toEqual([0, DUE]);
});

test.each([[undefined], [START + 20]])(
  "when it is woken for %s while it sleeps, then it looks at once",
  async (dueAt) => {
    loop.start();
    await seconds(10);
    loop.wake(dueAt);
    await seconds(DUE);
    expect(turns).toEqual([0, 10, DUE]);
  },
);

test("when it is woken for later than it would look anyway, then it sleeps on", async () => {
  loop.start();
  await seconds(10);
  loop.wake(START + DUE);
  loop.wake(START + DUE + 1);
  await seconds(DUE);
  expect(turns).toEqual([0, DUE]);
});

test("when it is woken while it works, then it works again at once", async () => {
  duringFirstTurn = () => loop.wake();
  loop.start();
  await seconds(1);
  expect(turns).toEqual([0, 0]);
});

test("when it is woken for a time while it works, then it works again by then", async () => {
  duringFirstTurn = () => {
    loop.wake(START + 5);
    loop.wake(START + 50);
  };
  loop.start();
  await seconds(DUE + 5);
  expect(turns).toEqual([0, 5, DUE]);
});

test("when a turn fails, then it works again soon, or as soon as it is woken", async () => {
  const told: unknown[] = [];
  const failing = createWakeLoop(
    clock,
    async () => {
      turns.push(clock.now() / 1000 - START);
      failing.wake();
      throw new Error(`turn ${turns.length}`);
    },
    (error) => void told.push(error),
  );
  failing.start();
  await seconds(3);
  failing.wake(START + 100);
  await seconds(0.5);
  await failing.stop();
  expect(turns).toEqual([0, 2, 3]);
  expect(told).toEqual([new Error("turn 1"), new Error("turn 2"), new Error("turn 3")]);
});
