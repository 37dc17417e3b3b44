/**
 * The data file before it is opened, and while it is: whose it is, what it looks like from outside, its private mode.
 */
import { chmodSync, closeSync, openSync, readdirSync, statSync, writeSync } from "node:fs";
import path from "node:path";
import { specialKind } from "../../../../runtime/files/file-kind.ts";
import { isPrivate } from "../../../../runtime/files/processes.ts";
import type { Random } from "../../../../runtime/random.ts";
import type { LockFacts } from "../../../../runtime/files/lock-file.ts";
import { StoreFileError } from "../../store-errors.ts";
import type { SqliteDatabase } from "./database.ts";
import { readHeader } from "./file-guard.ts";

const MAGIC = "SQLite format 3\0";
/** A check of more would keep a server from starting for more than about a second. */
const CHECKED_BYTES_MAX = 32 * 1024 * 1024;
const FILE_MODE = 0o600;
/** The name of the copy of a file that was lost while it was in use: the file's, this, and the time. */
export const RESCUED = ".rescued-";
/** Where SQLite keeps a number for the application's use in a file: 4 bytes. Here it is the number of the last run. */
export const RUN_OFFSET = 60;

/** Of 255 that a name may have: the longest beside it is a lock's, taken over by a process that another one killed meanwhile. */
const NAME_BYTES_MAX = 160;

export interface Condition {
  /** True where there was nothing in it, or no file. */
  readonly isNew: boolean;
  /** True where this process made it. */
  readonly isMade: boolean;
  /** Whether other users of the machine may read it. */
  readonly isReadable: boolean;
}

/**
 * Looks at the path before anything is made beside it. Throws StoreFileError for a folder, pipe, socket or device,
 * and for a name too long. `shown` is
 * what messages are to call the file.
 */
export function checkPlace(file: string, shown: string): void {
  const bytes = Buffer.byteLength(path.basename(file));
  if (bytes > NAME_BYTES_MAX)
    throw new StoreFileError(
      "unreadable",
      `${shown}: the file's name has ${bytes} bytes; at most ${NAME_BYTES_MAX} leave room for the names beside it`,
    );
  for (const suffix of ["", "-wal"]) {
    const found = statSync(`${file}${suffix}`, { throwIfNoEntry: false });
    const kind = found === undefined ? null : specialKind(found);
    if (kind !== null)
      throw new StoreFileError("not_sqlite", `${shown}${suffix}: the path leads to ${kind}, not to a file`);
  }
}

/**
 * Looks at the file, and makes it where it is missing. Throws StoreFileError. `left` is what a dead owner had noted.
 */
export function prepareFile(file: string, left: LockFacts | null): Condition {
  const size = sizeOf(file) ?? 0;
  const hasLog = (sizeOf(`${file}-wal`) ?? 0) > 0;
  if (size === 0) {
    refuseLost(file);
    const isMade = makeEmptyFile(file);
    // A file that another program made for it holds nothing that others may have read.
    if (!isMade && isPrivate(statSync(file), 0)) chmodSync(file, FILE_MODE);
    return { isNew: true, isMade, isReadable: !isPrivate(statSync(file), 0o077) };
  }
  const header = readHeader(file);
  if (!header.startsWith(MAGIC)) throw new StoreFileError("not_sqlite", "the file is not a SQLite database");
  const run = Buffer.from(header, "latin1").readUInt32BE(RUN_OFFSET);
  // Each start writes another number into the file and notes it in the record; a copy that was put back has an older
  // one.
  if (hasLog && typeof left?.["run"] === "number" && left["run"] !== run) {
    throw new StoreFileError(
      "stale_log",
      `the log ${file}-wal belongs to another copy of the file; if this one was restored from a backup, delete the log`,
    );
  }
  return { isNew: false, isMade: false, isReadable: !isPrivate(statSync(file), 0o077) };
}

/** Throws StoreFileError where a file that is not there has left its log, or was saved under another name. */
export function refuseLost(file: string): void {
  if ((sizeOf(`${file}-wal`) ?? 0) > 0) {
    throw new StoreFileError(
      "missing",
      `the file is missing or empty while its log ${file}-wal is there; restore the file, or delete the log to start anew`,
    );
  }
  const rescued = readdirSync(path.dirname(file)).find((name) => name.startsWith(path.basename(file) + RESCUED));
  if (rescued !== undefined) {
    throw new StoreFileError(
      "missing",
      `the file is missing, and what it held was saved in ${rescued}; rename that to restore it, or move it away to start anew`,
    );
  }
}

/** False where the file is there already, which is left alone. */
export function makeEmptyFile(file: string): boolean {
  try {
    // The engine's other files get the mode of this one.
    closeSync(openSync(file, "wx", FILE_MODE));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

/** Looks for damage, in files of up to 32 MiB. Throws StoreFileError. */
export function checkContent(file: string, database: SqliteDatabase): void {
  if ((sizeOf(file) ?? 0) > CHECKED_BYTES_MAX) return;
  const finding = Object.values(database.first("PRAGMA quick_check(1)") ?? {})[0];
  if (finding !== "ok") throw new StoreFileError("damaged", `the file is damaged: ${firstLine(String(finding))}`);
}

function firstLine(text: string): string {
  return text.replace(/^\*\*\* .* \*\*\*\n/, "").split("\n")[0] ?? "";
}

/** Writes the number of this run into the file itself and empties the log. Returns it. */
export function markRun(database: SqliteDatabase, random: Random): number {
  const run = 1 + Math.floor(random.fraction() * 0x7fff_fffe);
  database.exec(`PRAGMA user_version = ${run}`);
  database.all("PRAGMA wal_checkpoint(TRUNCATE)");
  return run;
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

function sizeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}

/**
 * Writes a copy to a new file that only this user may read. No run has its number, so that a log of another copy is
 * not taken for its own when it is put back.
 */
export function copyTo(database: SqliteDatabase, file: string): void {
  closeSync(openSync(file, "wx", 0o600));
  database.all("VACUUM INTO ?", [file]);
  const descriptor = openSync(file, "r+");
  try {
    writeSync(descriptor, Buffer.alloc(4), 0, 4, RUN_OFFSET);
  } finally {
    closeSync(descriptor);
  }
}
