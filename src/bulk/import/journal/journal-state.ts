import { readJournalLines, type JournalEntry, type JournalHead } from "./journal-entry.ts";
import { createLineNumbers } from "../table/line-numbers.ts";
import { noOutcomes, OUTCOMES, type OutcomeCounts, type OutcomeName, type RecordedOutcome } from "./outcome.ts";

const FAILED = OUTCOMES.indexOf("failed") + 1;
const DOUBTFUL = OUTCOMES.length + 1;

export async function readJournal(file: string): Promise<JournalState> {
  const state = new JournalState();
  for await (const lines of readJournalLines(file)) {
    for (const { entry, end } of lines) state.take(entry, end);
  }
  return state;
}

export class JournalState {
  head: JournalHead | null = null;
  length = 0;
  ended = false;
  undone = false;
  /** When the last run stopped, by the service's clock. Null if it was killed. */
  stoppedAt: number | null = null;
  readonly #outcomes = createLineNumbers(Uint8Array);
  readonly #intents = createLineNumbers(Uint32Array);
  readonly #noRepeats = createLineNumbers(Uint8Array);

  /** `end` is the journal's length in bytes including the entry. */
  take(entry: JournalEntry, end: number = this.length): void {
    if ("head" in entry) this.head = entry.head;
    else if ("end" in entry) this.ended = true;
    else if ("undone" in entry) this.undone = true;
    else if ("unsent" in entry) this.#stop(entry.unsent, entry.at);
    else if ("noRepeat" in entry) for (const line of entry.noRepeat) this.#noRepeats.set(line, 1);
    else if ("done" in entry) this.#settle(entry.done);
    else {
      this.stoppedAt = null;
      for (const line of entry.intent) this.#intend(line, entry.at);
    }
    this.length = end;
  }

  get counts(): OutcomeCounts {
    const counts = noOutcomes();
    for (let line = 0; line < this.#outcomes.end; line += 1) {
      const outcome = this.outcomeOf(line);
      if (outcome !== null) counts[outcome] += 1;
    }
    return counts;
  }

  get undecided(): readonly number[] {
    const undecided: number[] = [];
    for (let line = 0; line < this.#intents.end; line += 1)
      if (this.#intents.get(line) !== 0 && this.outcomeOf(line) === null) undecided.push(line);
    return undecided;
  }

  outcomeOf(line: number): OutcomeName | null {
    const code = this.#outcomes.get(line);
    return code === DOUBTFUL ? "failed" : (OUTCOMES[code - 1] ?? null);
  }

  mayHaveArrived(line: number): boolean {
    return this.#outcomes.get(line) === DOUBTFUL;
  }

  noRepeat(line: number): boolean {
    return this.#noRepeats.get(line) === 1;
  }

  /** When a line may first have been sent, by the service's clock; null if it wasn't sent. */
  intentAt(line: number): number | null {
    return this.#intents.get(line) || null;
  }

  #stop(unsent: readonly number[], at: number): void {
    this.stoppedAt = at;
    for (const line of unsent) this.#intents.set(line, 0);
  }

  #settle({ line, outcome, mayHaveArrived }: RecordedOutcome): void {
    this.#outcomes.set(line, mayHaveArrived === true ? DOUBTFUL : OUTCOMES.indexOf(outcome) + 1);
  }

  #intend(line: number, at: number): void {
    const before = this.#outcomes.get(line);
    if (before === FAILED || before === DOUBTFUL) this.#outcomes.set(line, 0);
    // A rejected row starts over. A row that may have arrived is looked up from its first intent onward.
    if (before === FAILED || this.#intents.get(line) === 0) this.#intents.set(line, at);
  }
}
