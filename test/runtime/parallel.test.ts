import { expect, it } from "vitest";
import { createSemaphore, abortTogether, inParallel } from "../../src/runtime/parallel.ts";

const turn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));

async function* counting(to: number, asked: number[]): AsyncGenerator<number> {
  for (let item = 1; item <= to; item += 1) {
    asked.push(item);
    await turn();
    yield item;
  }
}

it.each([
  ["an array", (): Iterable<number> => [1, 2, 3, 4, 5, 6, 7]],
  ["a generator that waits", (): AsyncIterable<number> => counting(7, [])],
])(
  "when items come from %s, then results keep their order and no more than the limit run at once",
  async (_, items) => {
    let running = 0;
    let most = 0;
    const results = await inParallel(items(), 3, async (item) => {
      running += 1;
      most = Math.max(most, running);
      for (let turns = 10 - item; turns > 0; turns -= 1) await turn();
      running -= 1;
      return item * 10;
    });
    expect(results).toEqual([10, 20, 30, 40, 50, 60, 70]);
    expect(most).toBe(3);
  },
);

it("when one item fails, then the failure is that of all and few further items are asked for", async () => {
  const asked: number[] = [];
  const done = inParallel(counting(100, asked), 2, async (item) => {
    await turn();
    if (item === 2) throw new Error("two");
  });
  await expect(done).rejects.toThrow("two");
  for (let turns = 0; turns < 50; turns += 1) await turn();
  expect(asked.length).toBeLessThan(6);
});

it("when one of several fails, then the others are told to end", async () => {
  const signals: AbortSignal[] = [];
  const done = abortTogether(new AbortController().signal, async (signal) => {
    signals.push(signal);
    await turn();
    throw new Error("one");
  });
  await expect(done).rejects.toThrow("one");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

it("when the caller ends it, then so does everything within", async () => {
  const outer = new AbortController();
  const aborted = await abortTogether(outer.signal, async (signal) => {
    outer.abort();
    return signal.aborted;
  });
  expect(aborted).toBe(true);
});

it("when more than the limit enter, then the others wait their turn in order, or until all are admitted", async () => {
  const turns = createSemaphore(2);
  const entered: string[] = [];
  for (const name of ["one", "two", "three", "four", "five"]) void turns.enter().then(() => entered.push(name));
  await turn();
  expect([entered, turns.wanted()]).toEqual([["one", "two"], 5]);
  turns.leave();
  await turn();
  expect([entered, turns.wanted()]).toEqual([["one", "two", "three"], 4]);
  turns.admitAll();
  await turn();
  expect([entered, turns.wanted()]).toEqual([["one", "two", "three", "four", "five"], 4]);
});
