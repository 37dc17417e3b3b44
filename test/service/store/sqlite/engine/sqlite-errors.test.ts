import { expect, test } from "vitest";
import { translateSqliteError } from "../../../../../src/service/store/sqlite/engine/sqlite-errors.ts";
import { StoreFileError } from "../../../../../src/service/store/store-errors.ts";

/** `sqlite3_errstr` for every primary code, and SQLite's messages about schemas it can't read. */
test.each([
  ["access permission denied", "the system refuses access to the file"],
  ["query aborted", "reading the file was broken off"],
  ["database is locked", "the file is in use by another program"],
  ["database table is locked", "the file is in use by another program"],
  ["database schema is locked: main", "the file is in use by another program"],
  ["out of memory", "the system has no memory left to read the file"],
  ["attempt to write a readonly database", "the file cannot be opened for writing"],
  ["interrupted", "reading the file was broken off"],
  ["disk I/O error", "the disk reports an error"],
  ["database disk image is malformed", "the file is damaged"],
  ['malformed database schema (people) - near "x": syntax error', "the file is damaged"],
  ["database or disk is full", "the disk is full"],
  ["unable to open database file", "the file cannot be opened for writing"],
  ["unable to open database: /srv/survey.db", "the file cannot be opened for writing"],
  ['Could not open the database "/srv/survey.db"', "the file cannot be opened for writing"],
  ["locking protocol", "the file is in use by another program"],
  ["database schema has changed", "another program has changed the file's tables"],
  ["string or blob too big", "a value in the file is larger than SQLite allows"],
  ["large file support is disabled", "the system allows no file of this size"],
  ["authorization denied", "the system refuses access to the file"],
  ["auxiliary database format error", "the file is not a SQLite database"],
  ["unsupported file format", "the file is not a SQLite database"],
  ["file is not a database", "the file is not a SQLite database"],
])("when SQLite says %s, then callers read a sentence of ours", (words, sentence) => {
  const error = translateSqliteError(new Error(words));
  expect(error).toBeInstanceOf(StoreFileError);
  expect((error as StoreFileError).message).toBe(sentence);
});

test.each([
  "SQL logic error",
  'near "x": syntax error',
  "constraint failed",
  "datatype mismatch",
  "column index out of range",
])("when SQLite says %s, then the error is ours and stays as it is", (words) => {
  const error = new Error(words);
  expect(translateSqliteError(error)).toBe(error);
});
