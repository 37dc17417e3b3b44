/** What a journal says of every line of the input: enough to go on from, in a few bytes each. */
import type { JournalEntry, JournalHead } from "./journal-entry.ts";
import { readJournalLines } from "./journal-lines.ts";
import { createLineNumbers } from "../table/line-numbers.ts";
import { OUTCOMES, type OutcomeName } from "./outcome.ts";

export interface JournalState {
  /** Null: nothing was begun. */
  readonly head: JournalHead | null;
  /** Bytes that were read whole; a torn last line lies behind them. */
  readonly length: number;
  readonly ended: boolean;
  /** The outcome that counts for a line; null when it has none yet, or failed and was meant again. */
  outcomeOf(line: number): OutcomeName | null;
  /** The service's time at which a line was first meant to be sent, since it failed if it did; null when it never was. */
  intentAt(line: number): number | null;
}

const FAILED = OUTCOMES.indexOf("failed") + 1;

/** No file is an empty journal. */
export async function readJournal(file: string): Promise<JournalState> {
  const state = createState();
  for await (const lines of readJournalLines(file)) {
    for (const { entry, end } of lines) state.take(entry, end);
  }
  return state;
}

/** What a journal says that was never written. */
export function emptyJournal(): JournalState {
  return createState();
}

interface WritableState extends JournalState {
  take(entry: JournalEntry, end: number): void;
}

function createState(): WritableState {
  const outcomes = createLineNumbers(Uint8Array);
  const intents = createLineNumbers(Uint32Array);
  let head: JournalHead | null = null;
  let length = 0;
  let ended = false;
  const take = (entry: JournalEntry): void => {
    if ("head" in entry) head = entry.head;
    else if ("end" in entry) ended = true;
    else if ("unsent" in entry) for (const line of entry.unsent) intents.set(line, 0);
    else if ("done" in entry) outcomes.set(entry.done.line, OUTCOMES.indexOf(entry.done.outcome) + 1);
    else for (const line of entry.intent) mean(line, entry.at);
  };
  const mean = (line: number, at: number): void => {
    const isAgain = outcomes.get(line) === FAILED;
    if (isAgain) outcomes.set(line, 0);
    if (isAgain || intents.get(line) === 0) intents.set(line, at);
  };
  return {
    get head() {
      return head;
    },
    get length() {
      return length;
    },
    get ended() {
      return ended;
    },
    outcomeOf: (line) => OUTCOMES[outcomes.get(line) - 1] ?? null,
    intentAt: (line) => intents.get(line) || null,
    take(entry, end) {
      take(entry);
      length = end;
    },
  };
}
