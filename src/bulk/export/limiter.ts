/** Lets at most `limit` pieces of work run at once; the others wait in the order in which they came. */
export type Limiter = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Work that fails gives its place on, too. */
export function createLimiter(limit: number): Limiter {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // A waiting one takes over the place, so that nobody can slip in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
