/** Numbered steps from an empty file to today's schema; each runs in a transaction of its own. */
import { emailKey } from "../../../../contract/email.ts";
import type { Database } from "../engine/database.ts";
import { ADD_SUPPRESSIONS, CREATE_SCHEMA } from "./schema.ts";
import { StoreFileError } from "../../store-file-error.ts";

export interface Migration {
  readonly version: number;
  readonly statements: readonly string[];
  /** What SQL alone cannot do; runs after the statements. */
  readonly run?: (database: Database) => void;
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, statements: CREATE_SCHEMA },
  { version: 2, statements: ADD_SUPPRESSIONS },
  { version: 3, statements: [], run: renewEmailKeys },
];

/**
 * Addresses are compared in Unicode's composed form, with only ASCII letters folded before the `@`. Where that makes
 * two people one, the key stays with the one who has it, and the other keeps an older key.
 */
function renewEmailKeys(database: Database): void {
  const people = database.all("SELECT project_id, id, email FROM people WHERE email GLOB '*[^ -~]*' ORDER BY 1, 2");
  for (const { project_id: project = null, id = null, email } of people) {
    const key = emailKey(String(email));
    database.all("UPDATE OR IGNORE people SET email_key = ? WHERE project_id = ? AND id = ?", [key, project, id]);
  }
}

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

function runMigration(database: Database, { version, statements, run }: Migration, now: number): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    database.exec(
      "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER NOT NULL PRIMARY KEY, applied_at INTEGER NOT NULL)",
    );
    for (const statement of statements) database.exec(statement);
    run?.(database);
    database.all("INSERT INTO schema_migrations (version, applied_at) VALUES (?, ?)", [version, now]);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
