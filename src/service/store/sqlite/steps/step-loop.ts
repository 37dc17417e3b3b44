/** Does what `long-changes.ts` has noted, step by step, with the queue's other work between the steps. */
export interface StepLoop {
  /** Begins, unless it runs already or nothing is noted. Cheap. */
  readonly start: () => void;
  /** Resolves once nothing is noted any more; rejects with the error of a step that failed. */
  readonly settle: () => Promise<void>;
}

/** `step` does one as a transaction of its own. A step that fails ends the loop; the next start tries again. */
export function createStepLoop(isNoted: () => boolean, step: () => Promise<unknown>): StepLoop {
  const state: { running: Promise<void> | null } = { running: null };
  const run = async (): Promise<void> => {
    try {
      while (isNoted()) await step();
    } finally {
      state.running = null;
    }
  };
  const settle = (): Promise<void> => {
    if (isNoted()) state.running ??= run();
    return state.running ?? Promise.resolve();
  };
  // Who waits for it is told of a failure; the store goes on either way.
  return { start: () => void settle().catch(() => undefined), settle };
}
