/** Numbered steps from an empty file to today's schema; each runs in a transaction of its own. */
import type { Database } from "../engine/database.ts";
import { KEEP_COUNTS } from "./list-blocks-schema.ts";
import { CREATE_SCHEMA } from "./schema.ts";
import { StoreFileError } from "../../store-file-error.ts";

export interface Migration {
  readonly version: number;
  readonly statements: readonly string[];
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, statements: CREATE_SCHEMA },
  { version: 2, statements: KEEP_COUNTS },
];

/** Brings the file up to date; a file of somebody else's or of a newer version is refused untouched. */
export function migrate(database: Database, migrations: readonly Migration[], now: number): void {
  const tables = database.all(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'",
  );
  const isOurs = tables.some(({ name }) => name === "schema_migrations");
  if (!isOurs && tables.length > 0) throw new StoreFileError("this is a SQLite file of another program");
  const current = isOurs
    ? Number(database.first("SELECT max(version) AS version FROM schema_migrations")?.version ?? 0)
    : 0;
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest)
    throw new StoreFileError(`this file was written by a newer version (schema ${current}, this one knows ${newest})`);
  for (const migration of migrations.filter(({ version }) => version > current)) runMigration(database, migration, now);
}

function runMigration(database: Database, { version, statements }: Migration, now: number): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    database.exec(
      "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER NOT NULL PRIMARY KEY, applied_at INTEGER NOT NULL)",
    );
    for (const statement of statements) database.exec(statement);
    database.all("INSERT INTO schema_migrations (version, applied_at) VALUES (?, ?)", [version, now]);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
