import { accessSync, chmodSync, closeSync, constants, openSync, readSync, statSync, writeSync } from "node:fs";
import path from "node:path";
import { specialKind } from "../../../../runtime/files/file-kind.ts";
import { isPrivate } from "../../../../runtime/files/processes.ts";
import { StoreFileError } from "../../store-errors.ts";
import type { SqliteDatabase } from "./database.ts";

const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 100;
/** Write version and read version, one byte each: 2 in WAL mode, otherwise 1. */
const LOG_OFFSET = 18;
/** `user_version`, 4 bytes; 0 in a copy that no service has opened. */
const USED_OFFSET = 60;
const FILE_MODE = 0o600;
const SHARED_MODE = 0o660;

/** The limit for file names is 255 bytes; this leaves room for the temporary names of copies. */
const NAME_BYTES_MAX = 160;

/** Throws StoreFileError for a path that can't be a data file. `shown` is its name in messages. */
export function checkPlace(file: string, shown: string): void {
  const bytes = Buffer.byteLength(path.basename(file));
  if (bytes > NAME_BYTES_MAX)
    throw new StoreFileError(
      "unreadable",
      `${shown}: the file's name has ${bytes} bytes; at most ${NAME_BYTES_MAX} leave room for the names next to it`,
    );
  for (const suffix of ["", "-wal"]) {
    const found = statSync(`${file}${suffix}`, { throwIfNoEntry: false });
    const kind = found === undefined ? null : specialKind(found);
    if (kind !== null)
      throw new StoreFileError("not_sqlite", `${shown}${suffix}: the path leads to ${kind}, not to a file`);
  }
}

/** Creates the file if it is missing. Throws StoreFileError, or the system's error. */
export function prepareFile(file: string) {
  const { size, nlink } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0, nlink: 1 };
  // SQLite would use a separate log for each name, and rows in the other log would seem to be missing.
  if (nlink > 1)
    throw new StoreFileError(
      "linked",
      `the file has ${nlink} names (hard links); keep only the one with its log (-wal)`,
    );
  // The system reports why a file isn't writable; SQLite doesn't.
  if (size > 0) accessSync(file, constants.W_OK);
  if (size === 0) {
    refuseLost(file);
    const isMade = makeEmptyFile(file);
    if (!isMade && isPrivate(statSync(file), 0)) chmodSync(file, FILE_MODE);
    return { isNew: true, isMade, isReadable: !isPrivate(statSync(file), 0o077) };
  }
  const header = readHeader(file);
  if (!isSqlite(header)) throw new StoreFileError("not_sqlite", "the file is not a SQLite database");
  // Closed files and copies have no log, so this one belongs to a different file.
  if (header[LOG_OFFSET] === 1 && fileSize(`${file}-wal`) > 0)
    throw new StoreFileError(
      "stale_log",
      `the log ${file}-wal belongs to another copy of the file; if this one was restored from a backup, delete the log`,
    );
  return { isNew: false, isMade: false, isReadable: !isPrivate(statSync(file), 0o077) };
}

/** Throws StoreFileError if the file is missing but its log exists. */
export function refuseLost(file: string): void {
  if (fileSize(`${file}-wal`) > 0) {
    throw new StoreFileError(
      "missing",
      `the file is missing or empty while its log ${file}-wal is there; restore the file, or delete the log to start anew`,
    );
  }
}

/**
 * Only the owner can access the file and its log, which gets the same mode. Throws the system's error if the file
 * exists.
 */
export function makeNewFile(file: string): void {
  closeSync(openSync(file, "wx", FILE_MODE));
}

/** SQLite gave the log the data file's mode at the time, which may have been corrected since. */
export function closeLogToOthers(file: string): void {
  const isShared = (statSync(file).mode & 0o020) !== 0;
  const mode = isShared ? SHARED_MODE : FILE_MODE;
  for (const suffix of ["-wal", "-shm"]) {
    try {
      chmodSync(`${file}${suffix}`, mode);
    } catch {
      // The log belongs to another user, who opened the file first.
    }
  }
}

export function makeEmptyFile(file: string): boolean {
  try {
    makeNewFile(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

/** True if the header says WAL mode but there is no log: the file may be open under another name. */
export function hasLostLog(file: string): boolean {
  return fileSize(`${file}-wal`) === 0 && readHeader(file)[LOG_OFFSET] === 2;
}

/** Throws StoreFileError if another connection has the file open, perhaps with a log that isn't visible here. */
export function refuseOtherName(database: SqliteDatabase): void {
  try {
    database.exec("PRAGMA journal_mode = DELETE");
  } catch (error) {
    throw new StoreFileError("busy", "the file is in use under another name", { cause: error });
  }
}

export function markUsed(database: SqliteDatabase): void {
  if (database.first("PRAGMA user_version")?.["user_version"] === 0) beginLog(database);
}

/** Writes without changing anything, so that the log isn't empty. */
function beginLog(database: SqliteDatabase): void {
  database.exec("PRAGMA user_version = 1");
}

export function emptyLog(database: SqliteDatabase): void {
  const [row] = database.all("PRAGMA wal_checkpoint(TRUNCATE)");
  if (row?.["busy"] === 1) throw new StoreFileError("busy", "another program is reading the file");
  // The log of an open file must not be empty, because it would look lost: see `hasLostLog`.
  beginLog(database);
}

export function isUnusedCopy(file: string): boolean {
  const header = readHeader(file);
  return isSqlite(header) && header.readUInt32BE(USED_OFFSET) === 0;
}

/**
 * Marks a closed file as a copy that no service has opened, and ends WAL mode so that it opens on read-only file
 * systems.
 */
export function markAsCopy(file: string): void {
  const descriptor = openSync(file, "r+");
  try {
    writeSync(descriptor, Uint8Array.of(1, 1), 0, 2, LOG_OFFSET);
    writeSync(descriptor, new Uint8Array(4), 0, 4, USED_OFFSET);
  } finally {
    closeSync(descriptor);
  }
}

/** Merges the log explicitly, because a library may delay the actual close until garbage collection. */
export function closeFile(database: SqliteDatabase): void {
  try {
    database.all("PRAGMA journal_mode = DELETE");
  } catch {
    // Another connection is open, or the file is damaged. The next connection merges the log.
  }
  database.close();
}

export function isSqliteFile(file: string): boolean {
  return isSqlite(readHeader(file));
}

function isSqlite(header: Buffer): boolean {
  return header.toString("latin1", 0, MAGIC.length) === MAGIC;
}

/** Returns zeros if the file can't be read. Closing the file releases every lock this process holds on it. */
function readHeader(file: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    // Opening a pipe would wait for a writer.
    if (!statSync(file).isFile()) return header;
    const descriptor = openSync(file, "r");
    try {
      readSync(descriptor, header, 0, HEADER_BYTES, 0);
    } finally {
      closeSync(descriptor);
    }
  } catch {}
  return header;
}

export function fileSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
