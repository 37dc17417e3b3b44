/** Takes a data file from one schema to the next, each step in a transaction of its own. */
import {
  IS_OUTDATED,
  type Migration,
  MIGRATIONS,
  newestOf,
  recognizeSchema,
  VERSIONS_TABLE,
} from "../../sql/schema/migrations.ts";
import { StoreFileError } from "../../store-errors.ts";
import { NEW_FILE } from "../new-file.ts";
import { rollBack, type SqliteDatabase, toDatabase } from "./database.ts";

/**
 * Brings the file up to date; a file of another program, of a newer version, or of one before the baseline is refused
 * untouched.
 */
export async function migrate(
  database: SqliteDatabase,
  now: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const current = readVersion(database);
  const newest = newestOf(migrations);
  if (current > newest)
    throw new StoreFileError(
      "newer",
      `this file was written by a newer version (schema ${current}, this one knows ${newest})`,
    );
  for (const migration of [NEW_FILE, ...migrations])
    if (migration.version > current) await runMigration(database, migration, now);
}

/** 0 of an empty file. */
function readVersion(database: SqliteDatabase): number {
  const tables = database.all(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'",
  );
  const whose = recognizeSchema(tables.map(({ name }) => String(name)));
  if (whose === "none") return 0;
  if (whose === "foreign") throw new StoreFileError("foreign", "this is a SQLite file of another program");
  if (whose === "outdated") throw new StoreFileError("outdated", `this file ${IS_OUTDATED}`);
  const version = Number(database.first(`SELECT max(version) AS version FROM ${VERSIONS_TABLE}`)?.version ?? 0);
  if (version === 0) throw new StoreFileError("damaged", "the list of its schema's versions is empty");
  return version;
}

async function runMigration(
  database: SqliteDatabase,
  { version, statements, run }: Migration,
  now: number,
): Promise<void> {
  database.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have been quicker.
    if (readVersion(database) >= version) return rollBack(database);
    database.exec(statements.join(";\n"));
    database.writing = true;
    await run?.(toDatabase(database));
    database.all(`INSERT INTO ${VERSIONS_TABLE} (version, applied_at) VALUES (?, ?)`, [version, now]);
    database.exec("COMMIT");
  } catch (error) {
    rollBack(database);
    // A part that is not ours is in the way.
    if (error instanceof Error && /^(?:no such|duplicate|table|index|trigger|.* already exists)/.test(error.message))
      throw new StoreFileError("foreign", `the file's schema cannot be brought up to date: ${error.message}`, {
        cause: error,
      });
    throw error;
  } finally {
    database.writing = false;
  }
}
