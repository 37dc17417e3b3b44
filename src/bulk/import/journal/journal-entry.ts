import { open, type FileHandle } from "node:fs/promises";
import { isJsonObject, type Json } from "../../../contract/json.ts";
import { OUTCOMES, type RecordedOutcome } from "./outcome.ts";

export interface JournalHead {
  readonly format: 2;
  readonly input: string;
  readonly file: string;
  readonly rows: number;
  readonly command: string;
  readonly choices: Readonly<Record<string, Json>>;
  readonly baseUrl: string;
  readonly key: string;
  readonly at: number;
}

export type JournalEntry =
  | { readonly head: JournalHead }
  /** `keys` are the lines' `rowKey`s; `at` is in Unix seconds by the service's clock. */
  | { readonly intent: readonly number[]; readonly at: number; readonly keys?: readonly string[] }
  /** The run stopped without sending a byte of these lines. */
  | { readonly unsent: readonly number[]; readonly at: number }
  /** Accepted, or repeated without a clear result: only --retry-unknown repeats these lines. */
  | { readonly noRepeat: readonly number[] }
  | { readonly done: RecordedOutcome }
  | { readonly end: true }
  | { readonly undone: true };

export function formatEntry(entry: JournalEntry): string {
  if (!("done" in entry)) return JSON.stringify(entry);
  return JSON.stringify({ done: { ...entry.done, personId: packId(entry.done.personId) } });
}

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
  if ("noRepeat" in entry) return Array.isArray(entry.noRepeat);
  if ("done" in entry) return isOutcome(entry.done);
  return "end" in entry || "undone" in entry || ("head" in entry && entry.head.format === 2);
}

function isOutcome({ line, outcome, personId, writes = [] }: RecordedOutcome): boolean {
  const isId = personId === null || typeof personId === "string" || Number.isSafeInteger(personId);
  return Number.isSafeInteger(line) && OUTCOMES.includes(outcome) && isId && writes.every(isJsonObject);
}

/** V8 never frees short strings parsed from JSON: as text, a million ids would take 40 MB. */
function packId(id: string | null): string | number | null {
  const number = Number(id);
  return id !== null && Number.isSafeInteger(number) && String(number) === id ? number : id;
}

export interface JournalLine {
  readonly entry: JournalEntry;
  readonly start: number;
  readonly end: number;
}

const CHUNK_BYTES = 64 * 1024;
const NEW_LINE = 10;

/** A missing file is an empty journal. Lines damaged by a crash are skipped. */
export async function* readJournalLines(file: string): AsyncGenerator<JournalLine[]> {
  const handle = await openIfThere(file);
  if (handle === null) return;
  try {
    let buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    let start = 0;
    let held = 0;
    for (;;) {
      if (held === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      const { bytesRead } = await handle.read(buffer, held, buffer.length - held, start + held);
      if (bytesRead === 0) return;
      held += bytesRead;
      const { lines, taken } = takeLines(buffer.subarray(0, held), start);
      yield lines;
      buffer.copyWithin(0, taken, held);
      start += taken;
      held -= taken;
    }
  } finally {
    await handle.close();
  }
}

export async function readJournalHead(file: string): Promise<JournalHead | null> {
  for await (const [first] of readJournalLines(file))
    return first !== undefined && "head" in first.entry ? first.entry.head : null;
  return null;
}

async function openIfThere(file: string): Promise<FileHandle | null> {
  try {
    return await open(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return null;
  }
}

function takeLines(bytes: Buffer, start: number): { readonly lines: JournalLine[]; readonly taken: number } {
  const lines: JournalLine[] = [];
  let taken = 0;
  for (let end = bytes.indexOf(NEW_LINE); end !== -1; end = bytes.indexOf(NEW_LINE, taken)) {
    const entry = parseEntry(bytes.toString("utf8", taken, end));
    if (entry !== null) lines.push({ entry, start: start + taken, end: start + end + 1 });
    taken = end + 1;
  }
  return { lines, taken };
}
