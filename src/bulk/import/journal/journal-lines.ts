/** A journal's lines as they stand in its file. */
import { open, type FileHandle } from "node:fs/promises";
import { parseEntry, type JournalEntry, type JournalHead } from "./journal-entry.ts";

export interface JournalLine {
  readonly entry: JournalEntry;
  /** Where it begins, bytes. */
  readonly start: number;
  /** Behind its line end, bytes. */
  readonly end: number;
}

const CHUNK_BYTES = 64 * 1024;
const NEW_LINE = 10;

/**
 * All lines in their order, in batches; no file is an empty journal. Only whole lines count: one that a crash tore has no
 * line end. One that makes no sense, as a power cut may leave it, is left out; what follows it still tells who may have
 * been asked.
 */
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

/** What a journal belongs to; null for a file that is no journal of this version. */
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

interface Taken {
  readonly lines: JournalLine[];
  /** Bytes up to the last line end. */
  readonly taken: number;
}

function takeLines(bytes: Buffer, start: number): Taken {
  const lines: JournalLine[] = [];
  let taken = 0;
  for (let end = bytes.indexOf(NEW_LINE); end !== -1; end = bytes.indexOf(NEW_LINE, taken)) {
    const entry = parseEntry(bytes.toString("utf8", taken, end));
    if (entry !== null) lines.push({ entry, start: start + taken, end: start + end + 1 });
    taken = end + 1;
  }
  return { lines, taken };
}
