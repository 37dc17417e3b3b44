/**
 * Brings a data file's log to the disk beside the event loop: SQLite would hold up every request for as long as the disk
 * takes. Its commits leave the log's pages with the system, in the order in which they were written.
 */
import { open, type FileHandle } from "node:fs/promises";

export interface LogSync {
  /** Resolves when all that SQLite has written to the log is on the disk. Throws what the system throws. */
  readonly sync: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export function createLogSync(file: string): LogSync {
  let handle: FileHandle | null = null;
  return {
    sync: async () => {
      // Windows syncs only what is open for writing.
      handle ??= await open(`${file}-wal`, "r+");
      await handle.datasync();
    },
    close: async () => handle?.close(),
  };
}
