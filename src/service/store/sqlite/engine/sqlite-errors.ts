import { UniqueViolation } from "../../../sql/database.ts";
import { type FileTrouble, StoreFileError } from "../../store-errors.ts";

/** SQLite's messages about a file, a disk or another program. The libraries' codes differ, but not their messages. */
const TROUBLES: readonly (readonly [words: RegExp, trouble: FileTrouble, sentence: string])[] = [
  [/database or disk is full/, "full", "the disk is full"],
  [/disk I\/O error/, "unreadable", "the disk reports an error"],
  [/disk image is malformed|malformed database schema|corrupt/, "damaged", "the file is damaged"],
  [
    /file is not a database|unsupported file format|auxiliary database format error/,
    "not_sqlite",
    "the file is not a SQLite database",
  ],
  [/database (?:table |schema )?is locked|locking protocol/, "busy", "the file is in use by another program"],
  [/database schema has changed/, "changed", "another program has changed the file's tables"],
  [/readonly database|read-only/, "unreadable", "the file cannot be opened for writing"],
  [/(?:unable to|could not) open (?:the )?database/i, "unreadable", "the file cannot be opened for writing"],
  [/access permission denied|authorization denied/, "unreadable", "the system refuses access to the file"],
  [/large file support is disabled/, "unreadable", "the system allows no file of this size"],
  [/out of memory/, "unreadable", "the system has no memory left to read the file"],
  [/string or blob too big/, "damaged", "a value in the file is larger than SQLite allows"],
  [/query aborted|interrupted/, "unreadable", "reading the file was broken off"],
];

/** Adds the data file's name to a system error about one of its files. `shown` is the name to use in messages. */
export function nameDataFile(error: unknown, file: string, shown: string): unknown {
  if (!(error instanceof Error)) return error;
  const { syscall, path } = error as NodeJS.ErrnoException;
  const isBeside = path === undefined || path.startsWith(file);
  return syscall !== undefined && isBeside ? Object.assign(error, { path: shown }) : error;
}

export function translateSqliteError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const columns = /UNIQUE constraint failed: (.*)/.exec(error.message)?.[1];
  if (columns !== undefined) return new UniqueViolation(columns, { cause: error });
  const found = TROUBLES.find(([words]) => words.test(error.message));
  return found === undefined ? error : new StoreFileError(found[1], found[2], { cause: error });
}
