/**
 * What was meant and what became of it, one JSON line each. An intent is on disk before its request leaves; waiting
 * lines share one sync. A line that a crash tore is read as if it had never been written.
 */
import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { syncFolder } from "../../runtime/file-replacement.ts";
import { formatEntry, type JournalEntry } from "./journal-entry.ts";

export interface Journal {
  /** Resolves when the entry is on disk. */
  write(entry: JournalEntry): Promise<void>;
  close(): Promise<void>;
}

const FILE_MODE = 0o600;

/** Goes on after `length` bytes, those that were read whole; what a crash left behind them is cut off. */
export async function openJournal(file: string, length: number): Promise<Journal> {
  const handle = await open(file, length === 0 ? "w" : "r+", FILE_MODE);
  await handle.truncate(length);
  // A new file must outlive a power cut as well as its lines.
  if (length === 0) await syncFolder(path.dirname(file));
  return createJournal(handle, length);
}

function createJournal(handle: FileHandle, start: number): Journal {
  let position = start;
  let waiting: string[] = [];
  let batch: Promise<void> | null = null;

  /** One write and one sync for all that came while the last one ran. */
  async function flush(): Promise<void> {
    const bytes = Buffer.from(waiting.join(""));
    waiting = [];
    for (let offset = 0; offset < bytes.length;) {
      const { bytesWritten } = await handle.write(bytes, offset, bytes.length - offset, position + offset);
      offset += bytesWritten;
    }
    position += bytes.length;
    await handle.datasync();
  }

  let running: Promise<void> = Promise.resolve();
  return {
    write(entry) {
      waiting.push(`${formatEntry(entry)}\n`);
      batch ??= running = running.then(() => {
        batch = null;
        return flush();
      });
      return batch;
    },
    async close() {
      await running.catch(() => undefined);
      await handle.close();
    },
  };
}
