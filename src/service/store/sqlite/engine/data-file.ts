/** The data file as the file system has it: its place, its private mode, what makes it a copy, how it is closed. */
import { accessSync, chmodSync, closeSync, constants, openSync, readSync, statSync, writeSync } from "node:fs";
import path from "node:path";
import { specialKind } from "../../../../runtime/files/file-kind.ts";
import { isPrivate } from "../../../../runtime/files/processes.ts";
import { StoreFileError } from "../../store-errors.ts";
import type { SqliteDatabase } from "./database.ts";

const MAGIC = "SQLite format 3\0";
/** See the SQLite file format, 1.3. */
const HEADER_BYTES = 100;
/** The bytes of a header that say by 2 that the file has a log, for writing and for reading. */
const LOG_OFFSET = 18;
/**
 * The place of a number for the application's use, `user_version`: 4 bytes. A copy that no service has opened has 0.
 */
const USED_OFFSET = 60;
const FILE_MODE = 0o600;
const SHARED_MODE = 0o660;

/** Of the 255 bytes that a name may have: the longest name made of it is a copy's, with a token. */
const NAME_BYTES_MAX = 160;

export interface Condition {
  /** True where there was nothing in it, or no file. */
  readonly isNew: boolean;
  /** True where this process made it. */
  readonly isMade: boolean;
  /** True when other users of the machine may read it. */
  readonly isReadable: boolean;
}

/**
 * Looks at the path before any other file is made of its name. Throws StoreFileError for a folder, pipe, socket or
 * device, and for a name too long. `shown` is the file's name in messages.
 */
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

/** Looks at the file, and makes it where it is missing. Throws StoreFileError, and the system's error. */
export function prepareFile(file: string): Condition {
  const { size, nlink } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0, nlink: 1 };
  // Each name has a log of its own, and rows that are in the other one's would be missing.
  if (nlink > 1)
    throw new StoreFileError("linked", `the file has ${nlink} names (hard links); remove all but the one you use`);
  // The system says why a file cannot be written, which SQLite does not.
  if (size > 0) accessSync(file, constants.W_OK);
  if (size === 0) {
    refuseLost(file);
    const isMade = makeEmptyFile(file);
    // A file that another program made for it holds nothing that others may have read.
    if (!isMade && isPrivate(statSync(file), 0)) chmodSync(file, FILE_MODE);
    return { isNew: true, isMade, isReadable: !isPrivate(statSync(file), 0o077) };
  }
  const header = readHeader(file);
  if (!isSqlite(header)) throw new StoreFileError("not_sqlite", "the file is not a SQLite database");
  // A file that is closed, and a copy, say that they have no log; one that lies there is another file's.
  if (header[LOG_OFFSET] === 1 && sizeOf(`${file}-wal`) > 0)
    throw new StoreFileError(
      "stale_log",
      `the log ${file}-wal belongs to another copy of the file; if this one was restored from a backup, delete the log`,
    );
  return { isNew: false, isMade: false, isReadable: !isPrivate(statSync(file), 0o077) };
}

/** Throws StoreFileError where a file that is not there has left its log. */
export function refuseLost(file: string): void {
  if (sizeOf(`${file}-wal`) > 0) {
    throw new StoreFileError(
      "missing",
      `the file is missing or empty while its log ${file}-wal is there; restore the file, or delete the log to start anew`,
    );
  }
}

/** Throws the system's error where there is one. SQLite's other files get the mode of this one. */
export function makeNewFile(file: string): void {
  closeSync(openSync(file, "wx", FILE_MODE));
}

/**
 * SQLite makes the log as readable as the data file is, and it would stay so when that is mended. A file that a group
 * may write is shared on purpose, and so is its log.
 */
export function closeLogToOthers(file: string): void {
  const isShared = (statSync(file).mode & 0o020) !== 0;
  const mode = isShared ? SHARED_MODE : FILE_MODE;
  for (const suffix of ["-wal", "-shm"]) {
    try {
      chmodSync(`${file}${suffix}`, mode);
    } catch {
      // Another user's, who opened the file first.
    }
  }
}

/** False where the file is there already, which is left alone. */
export function makeEmptyFile(file: string): boolean {
  try {
    makeNewFile(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

/**
 * True for a file that says that it has a log while the log next to it is missing or empty, as when it is open under
 * another name. An empty log may be left by an attempt to open it.
 */
export function hasLostLog(file: string): boolean {
  return sizeOf(`${file}-wal`) === 0 && readHeader(file)[LOG_OFFSET] === 2;
}

/** Throws StoreFileError while another connection has the file open: under this name it would not see its log. */
export function refuseOtherName(database: SqliteDatabase): void {
  try {
    database.exec("PRAGMA journal_mode = DELETE");
  } catch (error) {
    throw new StoreFileError("busy", "the file is in use under another name", { cause: error });
  }
}

/** From then on the file is no unused copy. */
export function markUsed(database: SqliteDatabase): void {
  if (database.first("PRAGMA user_version")?.["user_version"] === 0) beginLog(database);
}

/** A write that changes nothing else, so that the log is not empty. */
export function beginLog(database: SqliteDatabase): void {
  database.exec("PRAGMA user_version = 1");
}

/** True for a copy that no service has opened since it was made. False for a file that is not there. */
export function isUnusedCopy(file: string): boolean {
  const header = readHeader(file);
  return isSqlite(header) && header.readUInt32BE(USED_OFFSET) === 0;
}

/** Makes a whole database that nobody has open an unused copy; it can be read where nothing can be written. */
export function markAsCopy(file: string): void {
  const descriptor = openSync(file, "r+");
  try {
    writeSync(descriptor, Uint8Array.of(1, 1), 0, 2, LOG_OFFSET);
    writeSync(descriptor, new Uint8Array(4), 0, 4, USED_OFFSET);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Closes a database; of the last connection to its file one plain file is left, without a log. To close it would do the
 * same, but a library may put that off until the statements are collected.
 */
export function closeFile(database: SqliteDatabase): void {
  try {
    database.all("PRAGMA journal_mode = DELETE");
  } catch {
    // Another connection is open, or the file is damaged: then the log stays, and the next one to open it reads it.
  }
  database.close();
}

/** False for what is not there. */
export function isSqliteFile(file: string): boolean {
  return isSqlite(readHeader(file));
}

function isSqlite(header: Buffer): boolean {
  return header.toString("latin1", 0, MAGIC.length) === MAGIC;
}

/**
 * The first bytes of a file; zeros where they cannot be read. Its end drops every lock that this process has on the
 * file.
 */
function readHeader(file: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    // To open a pipe would wait for its writer.
    if (!statSync(file).isFile()) return header;
    const descriptor = openSync(file, "r");
    try {
      readSync(descriptor, header, 0, HEADER_BYTES, 0);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // There is none, or it cannot be read.
  }
  return header;
}

/** 0 for a file that isn't there. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
