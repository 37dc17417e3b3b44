/** All events in order. The hash identifies a run; the last events explain a failure. */
import { createHash } from "node:crypto";

export interface Trace {
  /** Adds an event at the current simulated time. */
  readonly add: (text: string) => void;
  /** Counts an event of this kind for the summary. */
  readonly count: (kind: string) => void;
  readonly counts: () => Readonly<Record<string, number>>;
  /** Number of events. */
  readonly length: () => number;
  /** Hash of all events so far, in hexadecimal. */
  readonly hash: () => string;
  /** The last events, oldest first. */
  readonly last: () => readonly string[];
}

const KEPT = 20;

/** `now` is in Unix milliseconds; `tell` receives each event. */
export function createTrace(now: () => number, tell: ((line: string) => void) | null = null): Trace {
  const hash = createHash("sha256");
  const last: string[] = [];
  const counts = new Map<string, number>();
  const state = { length: 0 };
  return {
    add: (text) => {
      state.length += 1;
      const line = `${new Date(now()).toISOString()} ${text}`;
      hash.update(`${line}\n`);
      last.push(line);
      if (last.length > KEPT) last.shift();
      tell?.(line);
    },
    count: (kind) => void counts.set(kind, (counts.get(kind) ?? 0) + 1),
    counts: () => Object.fromEntries([...counts].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    length: () => state.length,
    hash: () => hash.copy().digest("hex"),
    last: () => [...last],
  };
}
