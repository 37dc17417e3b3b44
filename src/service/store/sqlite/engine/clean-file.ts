/** Removes the remains of deleted rows from the data file and its log. */
import { closeSync, openSync, read, statSync } from "node:fs";
import { promisify } from "node:util";
import { StoreFileError } from "../../store-errors.ts";
import { beginLog } from "./data-file.ts";
import type { SqliteDatabase } from "./database.ts";

export interface FileCleaner {
  readonly clean: (texts: readonly string[], exclusively: (work: () => void) => Promise<void>) => Promise<boolean>;
  readonly close: () => void;
}

/** Compacting a larger file would block the API for more than about half a second. */
const COMPACT_BYTES_MAX = 64 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const readAt = promisify(read);

export function createFileCleaner(database: SqliteDatabase, file: string): FileCleaner {
  // Closing it releases every lock this process holds on the file, so it stays open as long as the database.
  const state: { descriptor: number | null } = { descriptor: null };
  const isFound = async (texts: readonly string[]): Promise<boolean> => {
    state.descriptor ??= openSync(file, "r");
    return hasAny(state.descriptor, texts);
  };
  const isSmall = (): boolean => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= COMPACT_BYTES_MAX;
  return {
    clean: async (texts, exclusively) => {
      await exclusively(() => emptyLog(database));
      if (texts.length > 0 && !(await isFound(texts))) return true;
      if (!isSmall()) return false;
      await exclusively(() => rewrite(database));
      await exclusively(() => emptyLog(database));
      return !(await isFound(texts));
    },
    close: () => {
      if (state.descriptor !== null) closeSync(state.descriptor);
    },
  };
}

/** Rewrites all rows without the deleted ones. They stay in the log until it is emptied. */
export function rewrite(database: SqliteDatabase): void {
  database.exec("VACUUM");
}

/** Throws StoreFileError while another connection is reading it. */
export function emptyLog(database: SqliteDatabase): void {
  const [row] = database.all("PRAGMA wal_checkpoint(TRUNCATE)");
  if (row?.["busy"] === 1) throw new StoreFileError("busy", "another program is reading the file");
  // An empty log of an open file would look like a lost one: see `hasLostLog`.
  beginLog(database);
}

async function hasAny(descriptor: number, texts: readonly string[]): Promise<boolean> {
  const wanted = texts.filter((text) => text !== "").map((text) => Buffer.from(text));
  const overlap = Math.max(0, ...wanted.map(({ length }) => length - 1));
  const chunk = Buffer.alloc(CHUNK_BYTES + overlap);
  for (let position = 0; ; position += CHUNK_BYTES) {
    const { bytesRead } = await readAt(descriptor, chunk, 0, chunk.length, position);
    const part = chunk.subarray(0, bytesRead);
    if (wanted.some((text) => part.includes(text))) return true;
    if (bytesRead < chunk.length) return false;
  }
}
