/** What a journal says, in a few bytes a line of the input. */
import { createReadStream } from "node:fs";
import type { JournalEntry, JournalHead } from "./journal.ts";
import { OUTCOMES, type RecordedOutcome } from "./outcome.ts";

export interface JournalState {
  readonly head: JournalHead | null;
  /** Bytes that were read whole; a torn last line lies behind them. */
  readonly length: number;
  readonly ended: boolean;
  /** The outcome that counts for a line; null when it has none yet. */
  outcomeOf(line: number): (typeof OUTCOMES)[number] | null;
  /** The service's time at which a line was first meant to be sent; null when it never was. */
  intentAt(line: number): number | null;
  /** Where a line's latest outcome stands in the file, bytes; null when it has none. */
  placeOf(line: number): number | null;
}

/** No file is an empty journal. */
export async function readJournal(file: string): Promise<JournalState> {
  const state = createState();
  try {
    for await (const { text, start, length } of readLines(file)) {
      const entry = parseEntry(text);
      // What follows a line that makes no sense was written by nobody we know.
      if (entry === null) break;
      state.take(entry, start);
      state.length = start + length;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return state;
}

interface WritableState extends JournalState {
  head: JournalHead | null;
  length: number;
  ended: boolean;
  take(entry: JournalEntry, start: number): void;
}

function createState(): WritableState {
  const places = createLineNumbers(Float64Array);
  const outcomes = createLineNumbers(Uint8Array);
  const intents = createLineNumbers(Uint32Array);
  return {
    head: null,
    length: 0,
    ended: false,
    outcomeOf: (line) => OUTCOMES[outcomes.get(line) - 1] ?? null,
    intentAt: (line) => intents.get(line) || null,
    placeOf: (line) => (places.get(line) === 0 ? null : places.get(line) - 1),
    take(entry, start) {
      if ("head" in entry) this.head = entry.head;
      else if ("end" in entry) this.ended = true;
      else if ("unsent" in entry) for (const line of entry.unsent) intents.set(line, 0);
      else if ("done" in entry) {
        outcomes.set(entry.done.line, OUTCOMES.indexOf(entry.done.outcome) + 1);
        places.set(entry.done.line, start + 1);
      } else for (const line of entry.intent) if (intents.get(line) === 0) intents.set(line, entry.at);
    },
  };
}

type NumberArray = Float64Array | Uint32Array | Uint8Array;

/** A growing array by line number; 0 is absent. */
function createLineNumbers(Type: new (length: number) => NumberArray): {
  get(line: number): number;
  set(line: number, value: number): void;
} {
  let numbers = new Type(1024);
  return {
    get: (line) => numbers[line] ?? 0,
    set(line, value) {
      if (line >= numbers.length) {
        const larger = new Type(Math.ceil(Math.max(line + 1, numbers.length * 1.5)));
        larger.set(numbers);
        numbers = larger;
      }
      numbers[line] = value;
    },
  };
}

function parseEntry(text: string): JournalEntry | null {
  try {
    return JSON.parse(text) as JournalEntry;
  } catch {
    return null;
  }
}

interface JournalLine {
  readonly text: string;
  /** Bytes. */
  readonly start: number;
  /** Bytes, its line end included. */
  readonly length: number;
}

/** Whole lines only: the last one counts when its line end is there. */
async function* readLines(file: string): AsyncGenerator<JournalLine> {
  let rest: Buffer = Buffer.alloc(0);
  let start = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      yield { text: bytes.toString("utf8", from, end), start: start + from, length: end + 1 - from };
      from = end + 1;
    }
    start += from;
    rest = bytes.subarray(from);
  }
}

/** One outcome that `placeOf` points at. */
export function parseOutcome(text: string): RecordedOutcome | null {
  const entry = parseEntry(text);
  return entry !== null && "done" in entry ? entry.done : null;
}
