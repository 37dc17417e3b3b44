import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "../../../runtime/clock.ts";
import { syncFolder, withFileName } from "../../../runtime/files/file-replacement.ts";
import { formatEntry, type JournalEntry } from "./journal-entry.ts";

export interface Journal {
  write(entry: JournalEntry): Promise<void>;
  close(): Promise<void>;
}

const FILE_MODE = 0o600;
/** Entries that arrive this soon after a sync share the next one. */
const PAUSE_MS = 10;

/** Truncates what a crash left after `length` bytes. */
export async function openJournal(file: string, length: number, clock: Clock): Promise<Journal> {
  const handle = await open(file, length === 0 ? "w" : "r+", FILE_MODE);
  await handle.truncate(length);
  // A new file's directory entry must also survive a power failure.
  if (length === 0) await syncFolder(path.dirname(file));
  return createJournal(file, handle, length, clock);
}

function createJournal(file: string, handle: FileHandle, start: number, clock: Clock): Journal {
  let position = start;
  let waiting = "";
  let batch: Promise<void> | null = null;
  /** The last sync and the pause after it; stays rejected if the disk fails. */
  let ready: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    const bytes = Buffer.from(waiting);
    [waiting, batch] = ["", null];
    for (let offset = 0; offset < bytes.length;) {
      const { bytesWritten } = await handle.write(bytes, offset, bytes.length - offset, position + offset);
      offset += bytesWritten;
    }
    position += bytes.length;
    await handle.datasync();
  }

  function startBatch(): Promise<void> {
    const flushed = ready.then(() => withFileName(file, flush()));
    ready = flushed.then(() => clock.sleep(PAUSE_MS));
    ready.catch(() => undefined);
    return flushed;
  }

  return {
    write(entry) {
      waiting += `${formatEntry(entry)}\n`;
      batch ??= startBatch();
      return batch;
    },
    async close() {
      await ready.catch(() => undefined);
      await handle.close();
    },
  };
}
