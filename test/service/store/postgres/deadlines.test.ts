import { expect, test } from "vitest";
import { nextTurn } from "../../../../src/runtime/clock.ts";
import { createDeadlines } from "../../../../src/service/store/postgres/deadlines.ts";

test("when work takes longer than it may, then that work alone is ended, once and not too soon", async () => {
  const time = { now: 0 };
  const late: string[] = [];
  const clock = {
    monotonic: () => time.now,
    sleep: async (ms: number) => {
      await nextTurn();
      time.now += ms;
    },
  };
  const deadlines = createDeadlines(clock, (name: string) => late.push(`${name} after ${time.now}`));
  deadlines.set("slow", 1_100);
  deadlines.set("quick", 300);
  deadlines.clear("quick");
  deadlines.set("slower", 2_000);
  while (time.now < 1_000) await nextTurn();
  expect(late).toEqual([]);
  while (time.now < 4_000 && late.length < 2) await nextTurn();
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(late).toEqual(["slow after 1250", "slower after 2000"]);
});
