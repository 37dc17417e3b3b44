/** What a journal says, and how it is written: one JSON text each. */
import { OUTCOMES, type RecordedOutcome } from "./outcome.ts";

/** What the journal belongs to; another file or another service is refused. */
export interface JournalHead {
  readonly format: 1;
  /** SHA-256 of the input, hexadecimal. */
  readonly input: string;
  readonly command: string;
  readonly baseUrl: string;
}

export type JournalEntry =
  | { readonly head: JournalHead }
  /** Lines that may be sent from now on; `at` is the service's time, Unix seconds. */
  | { readonly intent: readonly number[]; readonly at: number }
  /** Lines that were meant by this run and certainly not sent: it stopped in front of them. */
  | { readonly unsent: readonly number[] }
  | { readonly done: RecordedOutcome }
  /** Every row has an outcome. */
  | { readonly end: true };

/** Without a line end. */
export function formatEntry(entry: JournalEntry): string {
  if (!("done" in entry)) return JSON.stringify(entry);
  return JSON.stringify({ done: { ...entry.done, personId: packId(entry.done.personId) } });
}

/** Null for a text that makes no sense. */
export function parseEntry(text: string): JournalEntry | null {
  try {
    const entry = JSON.parse(text) as JournalEntry;
    if (!makesSense(entry)) return null;
    if (!("done" in entry)) return entry;
    const { personId } = entry.done;
    return typeof personId === "number" ? { done: { ...entry.done, personId: String(personId) } } : entry;
  } catch {
    return null;
  }
}

function makesSense(entry: JournalEntry): boolean {
  if ("intent" in entry) return Array.isArray(entry.intent);
  if ("unsent" in entry) return Array.isArray(entry.unsent);
  if ("done" in entry) return Number.isSafeInteger(entry.done.line) && OUTCOMES.includes(entry.done.outcome);
  return "head" in entry || "end" in entry;
}

/**
 * An id that is a whole number is written as one. V8 keeps every short text that it reads from JSON in a table for the
 * whole process: a million ids would take 40 MB while results are written.
 */
function packId(id: string | null): string | number | null {
  const number = Number(id);
  return id !== null && Number.isSafeInteger(number) && String(number) === id ? number : id;
}
