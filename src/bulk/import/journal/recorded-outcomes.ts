import { open, type FileHandle } from "node:fs/promises";
import { parseEntry, readJournalLines } from "./journal-entry.ts";
import { createLineNumbers } from "../table/line-numbers.ts";
import type { RecordedOutcome } from "./outcome.ts";

export interface RecordedOutcomes {
  inOrder(): AsyncGenerator<RecordedOutcome[]>;
  /** Fast for lines that were recorded close together. */
  of(line: number): Promise<RecordedOutcome | null>;
  close(): Promise<void>;
}

export async function openRecordedOutcomes(journalFile: string): Promise<RecordedOutcomes> {
  const places = await readPlaces(journalFile);
  const reader = createLineReader(await open(journalFile, "r"));
  const of = async (line: number): Promise<RecordedOutcome | null> => {
    const place = places.get(line);
    const entry = place === null ? null : parseEntry(await reader.lineAt(place));
    return entry !== null && "done" in entry ? entry.done : null;
  };
  return {
    of,
    async *inOrder() {
      let batch: RecordedOutcome[] = [];
      for (let line = 0; line < places.end; line += 1) {
        if (places.get(line) === null) continue;
        const outcome = await of(line);
        if (outcome !== null) batch.push(outcome);
        if (batch.length < BATCH) continue;
        yield batch;
        batch = [];
      }
      yield batch;
    },
    close: () => reader.close(),
  };
}

const BATCH = 500;

async function readPlaces(journalFile: string) {
  // Five bytes per line suffice for a journal of a terabyte. Offsets count from 1; 0 means none.
  const highs = createLineNumbers(Uint8Array);
  const lows = createLineNumbers(Uint32Array);
  const failed = createLineNumbers(Uint8Array);
  const setPlace = (line: number, byte: number): void => {
    highs.set(line, Math.floor(byte / 2 ** 32));
    lows.set(line, byte % 2 ** 32);
  };
  for await (const lines of readJournalLines(journalFile)) {
    for (const { entry, start } of lines) {
      // A failed row has no outcome while it is retried.
      if ("intent" in entry) for (const line of entry.intent) if (failed.get(line) === 1) setPlace(line, 0);
      if (!("done" in entry)) continue;
      setPlace(entry.done.line, start + 1);
      failed.set(entry.done.line, entry.done.outcome === "failed" ? 1 : 0);
    }
  }
  return {
    end: lows.end,
    get(line: number): number | null {
      const place = highs.get(line) * 2 ** 32 + lows.get(line);
      return place === 0 ? null : place - 1;
    },
  };
}

const WINDOW_BYTES = 256 * 1024;
const NEW_LINE = 10;

/** Nearby lines share one read. */
function createLineReader(handle: FileHandle) {
  let buffer = Buffer.allocUnsafeSlow(WINDOW_BYTES);
  let window = buffer.subarray(0, 0);
  let start = 0;
  const load = async (place: number): Promise<void> => {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, place);
    window = buffer.subarray(0, bytesRead);
    start = place;
  };
  const lineEnd = (place: number): number => (place < start ? -1 : window.indexOf(NEW_LINE, place - start));
  return {
    async lineAt(place: number): Promise<string> {
      if (lineEnd(place) === -1) await load(place);
      while (lineEnd(place) === -1 && window.length === buffer.length) {
        buffer = Buffer.allocUnsafeSlow(buffer.length * 4);
        await load(place);
      }
      return lineEnd(place) === -1 ? "" : window.toString("utf8", place - start, lineEnd(place));
    },
    close: () => handle.close(),
  };
}
