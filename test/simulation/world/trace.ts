/** Everything that happens in a world, in order: its hash tells one run from another, its end tells of a failure. */
import { createHash } from "node:crypto";

export interface Trace {
  /** Adds an event at the world's present time. */
  readonly add: (text: string) => void;
  /** Counts an event of a kind, for the summary of a run. */
  readonly count: (kind: string) => void;
  readonly counts: () => Readonly<Record<string, number>>;
  /** How many events there were. */
  readonly length: () => number;
  /** Of all events so far, hexadecimal. */
  readonly hash: () => string;
  /** The last events, oldest first. */
  readonly last: () => readonly string[];
}

const KEPT = 20;

/** `now` is in Unix milliseconds; `tell` gets each event. */
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
