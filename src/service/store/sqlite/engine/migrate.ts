/** Takes a data file from one schema to the next, each step in a transaction of its own. */
import { type Migration, namesOf } from "../../sql/schema/migrations.ts";
import { StoreFileError } from "../../store-errors.ts";
import { rollBack, type SqliteDatabase, toDatabase } from "./database.ts";

/**
 * Brings the file up to date; a file of another program or a newer version is refused untouched. With `start`, an empty
 * file gets that first, in place of every migration up to its version.
 */
export async function migrate(
  database: SqliteDatabase,
  migrations: readonly Migration[],
  now: number,
  start?: Migration,
): Promise<void> {
  const tables = database.all(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'",
  );
  const isOurs = tables.some(({ name }) => name === "schema_migrations");
  if (!isOurs && tables.length > 0) throw new StoreFileError("foreign", "this is a SQLite file of another program");
  const current = isOurs
    ? Number(database.first("SELECT max(version) AS version FROM schema_migrations")?.version ?? 0)
    : 0;
  if (isOurs && current === 0) throw new StoreFileError("damaged", "the list of its schema's versions is empty");
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest)
    throw new StoreFileError(
      "newer",
      `this file was written by a newer version (schema ${current}, this one knows ${newest})`,
    );
  const pending = migrations.filter(({ version }) => version > current);
  const first = isOurs ? undefined : start;
  const isCovered = ({ version }: Migration): boolean => version <= (first?.version ?? 0);
  if (first !== undefined) await runMigration(database, first, pending.filter(isCovered), now);
  for (const migration of pending) if (!isCovered(migration)) await runMigration(database, migration, [migration], now);
}

/** Tables, indexes and triggers that these migrations make and that are not there. */
export function findMissing(database: SqliteDatabase, migrations: readonly Migration[]): string[] {
  const present = new Set(database.all("SELECT name FROM sqlite_master").map(({ name }) => String(name)));
  return [...namesOf(migrations)].filter((name) => !present.has(name));
}

/** Notes each of `covered` as applied. */
async function runMigration(
  database: SqliteDatabase,
  { statements, run }: Migration,
  covered: readonly Migration[],
  now: number,
): Promise<void> {
  database.exec("BEGIN IMMEDIATE");
  try {
    database.exec(
      "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER NOT NULL PRIMARY KEY, applied_at INTEGER NOT NULL)",
    );
    for (const statement of statements) database.exec(statement);
    database.writing = true;
    await run?.(toDatabase(database));
    for (const { version } of covered)
      database.all("INSERT INTO schema_migrations (version, applied_at) VALUES (?, ?)", [version, now]);
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
