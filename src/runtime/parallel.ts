/** Runs at most `limit` at a time. Results are in the items' order. After a failure, no more items are started. */
export async function inParallel<Item, Result>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let started = 0;
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (failures.length === 0) {
      const index = started;
      started += 1;
      const next = await queue.next();
      if (next.done === true) return;
      results[index] = await work(next.value);
    }
  };
  const endAll = async (error: unknown): Promise<never> => {
    failures.push(error);
    await queue.return?.();
    throw error;
  };
  await Promise.all(Array.from({ length: limit }, () => worker().catch(endAll)));
  return results;
}

/** Gives `work` a signal that is also aborted when it fails, so that its other parts stop. */
export async function abortTogether<Result>(
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  try {
    return await work(AbortSignal.any([signal, ending.signal]));
  } catch (error) {
    ending.abort(error);
    throw error;
  }
}

export interface Semaphore {
  readonly enter: () => Promise<void>;
  readonly leave: () => void;
  readonly wanted: () => number;
  readonly admitAll: () => void;
}

export function createSemaphore(limit: number): Semaphore {
  const waiting: (() => void)[] = [];
  let wanted = 0;
  return {
    enter: async () => {
      wanted += 1;
      if (wanted > limit) await new Promise<void>((resolve) => void waiting.push(resolve));
    },
    leave: () => {
      wanted -= 1;
      waiting.shift()?.();
    },
    wanted: () => wanted,
    admitAll: () => {
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}
