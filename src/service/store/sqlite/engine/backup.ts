/** Whole, consistent copies of an open data file. */
import { closeSync, openSync, writeSync } from "node:fs";
import type { Database } from "./database.ts";

/** What the copy of a file that was lost while it was in use is called, before the time. */
export const RESCUED = ".rescued-";

/** Where SQLite keeps a number for the application's use in a file: 4 bytes. Here it is the number of the last run. */
export const RUN_OFFSET = 60;

/**
 * Writes a copy to a new file that only this user may read. No run has its number, so that a log of another copy is
 * not taken for its own when it is put back.
 */
export function copyTo(database: Database, file: string): void {
  closeSync(openSync(file, "wx", 0o600));
  database.all("VACUUM INTO ?", [file]);
  const descriptor = openSync(file, "r+");
  try {
    writeSync(descriptor, Buffer.alloc(4), 0, 4, RUN_OFFSET);
  } finally {
    closeSync(descriptor);
  }
}
