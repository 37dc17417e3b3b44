import { expect, test } from "vitest";
import { type Clock, nextTurn, systemClock } from "../../../../src/runtime/clock.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { createProjectQueue, type ProjectQueue } from "../../../../src/service/store/postgres/project-queue.ts";

/** A queue whose transactions all succeed at once, and how many jobs each had. */
function openQueue(sleep: Clock["sleep"]): { readonly queue: ProjectQueue; readonly sizes: number[] } {
  const sizes: number[] = [];
  const queue = createProjectQueue({
    clock: { ...systemClock, sleep },
    random: systemRandom,
    run: async (_, jobs) => {
      sizes.push(jobs.length);
      return jobs.map((job) => () => job.resolve(null));
    },
    ask: async () => "unknown",
    unprepare: () => undefined,
    onEnd: () => undefined,
  });
  return { queue, sizes };
}

const write = (queue: ProjectQueue): Promise<null> => queue.write(async () => null, { project: 1 });

test("when callers ask again one after another, then they share the next transaction all the same", async () => {
  const { queue, sizes } = openQueue(() => new Promise(() => undefined));
  const call = async (turns: number): Promise<void> => {
    for (let times = 0; times < 3; times += 1) {
      await write(queue);
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
    }
  };
  await Promise.all([1, 2, 3, 4].map(call));
  expect(sizes).toEqual([4, 4, 4]);
});

test.each([
  [1, []],
  [10, [3]],
  [100, [5]],
])("when %i were answered, then the next transaction waits %j ms for them", async (count, waited) => {
  const slept: number[] = [];
  const { queue } = openQueue(async (ms) => void slept.push(ms));
  await Promise.all(Array.from({ length: count }, () => write(queue)));
  await queue.idle();
  expect(slept).toEqual(waited);
});
