/** Wakes everybody who waits for something to have changed. */
export interface ChangeBell {
  ring(): void;
  /** Resolves at the next `ring`. */
  next(): Promise<void>;
}

export function createChangeBell(): ChangeBell {
  let waiting: (() => void)[] = [];
  return {
    ring() {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    next: () => new Promise((resolve) => waiting.push(resolve)),
  };
}
