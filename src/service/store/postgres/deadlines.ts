/** Ends what takes too long. */
import type { Clock } from "../../../runtime/clock.ts";

/** How often all of them are looked at: a timer and a signal for each were 3 % of a write. */
const LOOK_MS = 250;

export interface Deadlines<Subject> {
  /** `onLate` hears of the subject after `ms` milliseconds or up to a quarter of a second later, unless it is cleared. */
  readonly set: (subject: Subject, ms: number) => void;
  readonly clear: (subject: Subject) => void;
  /** Lets the process end. */
  readonly close: () => void;
}

export function createDeadlines<Subject>(
  clock: Pick<Clock, "monotonic" | "sleep">,
  onLate: (subject: Subject) => void,
): Deadlines<Subject> {
  const lateAt = new Map<Subject, number>();
  const closing = new AbortController();
  const state = { isWatching: false };
  const watch = async (): Promise<void> => {
    state.isWatching = true;
    while (lateAt.size > 0) {
      await clock.sleep(LOOK_MS, closing.signal);
      const now = clock.monotonic();
      for (const [subject, at] of lateAt) if (at <= now && lateAt.delete(subject)) onLate(subject);
    }
    state.isWatching = false;
  };
  return {
    set: (subject, ms) => {
      lateAt.set(subject, clock.monotonic() + ms);
      if (!state.isWatching) void watch().catch(() => undefined);
    },
    clear: (subject) => void lateAt.delete(subject),
    close: () => closing.abort(),
  };
}
