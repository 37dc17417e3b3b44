/** What a journal says, and how it is written: one JSON text each. */
import type { Json } from "../../../contract/json.ts";
import { OUTCOMES, type RecordedOutcome } from "./outcome.ts";

/** What the journal belongs to; another file, account or selection of rows is refused. */
export interface JournalHead {
  readonly format: 2;
  /** SHA-256 of the input, hexadecimal. */
  readonly input: string;
  /** The input as it was named. */
  readonly file: string;
  /** Records below the header. */
  readonly rows: number;
  /** As users type it: `people import`. */
  readonly command: string;
  /** Whatever changes requests, or which rows are sent, by name. */
  readonly choices: Readonly<Record<string, Json>>;
  readonly baseUrl: string;
  /** Fingerprint of the API key; empty where there is none. */
  readonly key: string;
  /** When the run began, our own clock, Unix seconds. */
  readonly at: number;
}

export type JournalEntry =
  | { readonly head: JournalHead }
  /** Lines that may be sent from now on; `at` is the service's time, Unix seconds. */
  | { readonly intent: readonly number[]; readonly at: number }
  /** The run stopped at that time, the service's; the lines are those it intended to send and of which no byte left. */
  | { readonly unsent: readonly number[]; readonly at: number }
  | { readonly done: RecordedOutcome }
  /** Every row has an outcome. */
  | { readonly end: true };

/** Without a line end. */
export function formatEntry(entry: JournalEntry): string {
  if (!("done" in entry)) return JSON.stringify(entry);
  return JSON.stringify({ done: { ...entry.done, personId: packId(entry.done.personId) } });
}

/** Null for a text that is no entry. */
export function parseEntry(text: string): JournalEntry | null {
  try {
    const entry = JSON.parse(text) as JournalEntry;
    if (!isEntry(entry)) return null;
    if (!("done" in entry)) return entry;
    const { personId } = entry.done;
    return typeof personId === "number" ? { done: { ...entry.done, personId: String(personId) } } : entry;
  } catch {
    return null;
  }
}

function isEntry(entry: JournalEntry): boolean {
  if ("intent" in entry) return Array.isArray(entry.intent);
  if ("unsent" in entry) return Array.isArray(entry.unsent);
  if ("done" in entry) return Number.isSafeInteger(entry.done.line) && OUTCOMES.includes(entry.done.outcome);
  return "end" in entry || ("head" in entry && entry.head.format === 2);
}

/**
 * An id that is a whole number is written as one. V8 keeps every short text that it reads from JSON in a table for the
 * whole process: a million ids would take 40 MB while results are written.
 */
function packId(id: string | null): string | number | null {
  const number = Number(id);
  return id !== null && Number.isSafeInteger(number) && String(number) === id ? number : id;
}
