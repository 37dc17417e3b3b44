import { readJournalLines, type JournalEntry, type JournalHead } from "./journal-entry.ts";
import { createLineNumbers } from "../table/line-numbers.ts";
import { noOutcomes, OUTCOMES, type OutcomeCounts, type OutcomeName, type RecordedOutcome } from "./outcome.ts";

export interface JournalState {
  readonly head: JournalHead | null;
  readonly length: number;
  readonly ended: boolean;
  /** When the last run stopped, by the service's clock; null if it was killed. */
  readonly stoppedAt: number | null;
  readonly counts: OutcomeCounts;
  readonly undecided: number;
  /** Null if a line has no outcome yet, or failed and is being retried. */
  outcomeOf(line: number): OutcomeName | null;
  /** True if a line failed although the service may have processed it. */
  mayHaveArrived(line: number): boolean;
  noRepeat(line: number): boolean;
  /** When a line may first have been sent, by the service's clock; null if it wasn't. */
  intentAt(line: number): number | null;
}

const FAILED = OUTCOMES.indexOf("failed") + 1;
const DOUBTFUL = OUTCOMES.length + 1;

export async function readJournal(file: string): Promise<WritableState> {
  const state = emptyJournal();
  for await (const lines of readJournalLines(file)) {
    for (const { entry, end } of lines) state.take(entry, end);
  }
  return state;
}

export interface WritableState extends JournalState {
  /** `end` is the length of the journal in bytes including the entry, if it was read from one. */
  take(entry: JournalEntry, end?: number): void;
}

type Facts = { -readonly [Name in "head" | "length" | "ended" | "stoppedAt"]: JournalState[Name] };

function countLines(end: number, outcomeOf: JournalState["outcomeOf"]): OutcomeCounts {
  const counts = noOutcomes();
  for (let line = 0; line < end; line += 1) {
    const outcome = outcomeOf(line);
    if (outcome !== null) counts[outcome] += 1;
  }
  return counts;
}

export function emptyJournal(): WritableState {
  const outcomes = createLineNumbers(Uint8Array);
  const intents = createLineNumbers(Uint32Array);
  const noRepeats = createLineNumbers(Uint8Array);
  const stop = (unsent: readonly number[], at: number): void => {
    facts.stoppedAt = at;
    for (const line of unsent) intents.set(line, 0);
  };
  const settle = ({ line, outcome, mayHaveArrived }: RecordedOutcome): void => {
    outcomes.set(line, mayHaveArrived === true ? DOUBTFUL : OUTCOMES.indexOf(outcome) + 1);
  };
  const intend = (line: number, at: number): void => {
    const before = outcomes.get(line);
    if (before === FAILED || before === DOUBTFUL) outcomes.set(line, 0);
    // A rejected row starts anew; any other that may have arrived is looked up from its first intent on.
    if (before === FAILED || intents.get(line) === 0) intents.set(line, at);
  };
  const outcomeOf = (line: number): OutcomeName | null => {
    const code = outcomes.get(line);
    return code === DOUBTFUL ? "failed" : (OUTCOMES[code - 1] ?? null);
  };
  const facts: Facts & Omit<WritableState, keyof Facts> = {
    head: null,
    length: 0,
    ended: false,
    stoppedAt: null,
    get counts() {
      return countLines(outcomes.end, outcomeOf);
    },
    get undecided() {
      let undecided = 0;
      for (let line = 0; line < intents.end; line += 1)
        if (intents.get(line) !== 0 && outcomeOf(line) === null) undecided += 1;
      return undecided;
    },
    outcomeOf,
    mayHaveArrived: (line) => outcomes.get(line) === DOUBTFUL,
    noRepeat: (line) => noRepeats.get(line) === 1,
    intentAt: (line) => intents.get(line) || null,
    take(entry, end = facts.length) {
      if ("head" in entry) facts.head = entry.head;
      else if ("end" in entry) facts.ended = true;
      else if ("unsent" in entry) stop(entry.unsent, entry.at);
      else if ("noRepeat" in entry) for (const line of entry.noRepeat) noRepeats.set(line, 1);
      else if ("done" in entry) settle(entry.done);
      else {
        facts.stoppedAt = null;
        for (const line of entry.intent) intend(line, entry.at);
      }
      facts.length = end;
    },
  };
  return facts;
}
