import type { SchemaDialect } from "../../../sql/schema/baseline.ts";
import {
  IS_OUTDATED,
  type Migration,
  MIGRATIONS,
  newestVersion,
  recognizeSchema,
  stepsFrom,
  VERSIONS_TABLE,
} from "../../../sql/schema/migrations.ts";
import { StoreFileError } from "../../store-errors.ts";
import type { Look } from "./engine.ts";
import { rollBack, type SqliteDatabase } from "./database.ts";

export const SQLITE: SchemaDialect = {
  engine: "sqlite",
  int: "INTEGER",
  text: "TEXT",
  behind: ({ isClustered }) => (isClustered === true ? " WITHOUT ROWID" : ""),
};

export async function migrate(
  database: SqliteDatabase,
  now: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<{ readonly from: number; readonly to: number }> {
  const to = newestVersion(migrations);
  const from = readVersion(lookBy(database), to);
  for (const migration of stepsFrom(from, migrations)) await runMigration(database, migration, now);
  return { from, to };
}

export function lookBy(database: SqliteDatabase): Look {
  return (columns, from) => database.all(`SELECT ${columns} ${from}`).map((row) => Object.values(row));
}

/** Returns 0 for an empty file. Throws StoreFileError for another program's file, or an unreadable version. */
export function readVersion(look: Look, newest: number = newestVersion(MIGRATIONS)): number {
  const tables = look("name", "FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'");
  const whose = recognizeSchema(tables.map(([name]) => String(name)));
  if (whose === "none") return 0;
  if (whose === "foreign") throw new StoreFileError("foreign", "this is a SQLite file of another program");
  if (whose === "outdated") throw new StoreFileError("outdated", `this file ${IS_OUTDATED}`);
  const version = Number(look("max(version)", `FROM ${VERSIONS_TABLE}`)[0]?.[0] ?? 0);
  if (version === 0) throw new StoreFileError("damaged", "the list of its schema's versions is empty");
  if (version <= newest) return version;
  const what = `schema ${version}, this one knows ${newest}`;
  throw new StoreFileError("newer", `this file was written by a newer version (${what})`);
}

async function runMigration(
  database: SqliteDatabase,
  { version, statements, run }: Migration,
  now: number,
): Promise<void> {
  database.exec("BEGIN IMMEDIATE");
  try {
    if (readVersion(lookBy(database), Infinity) >= version) return rollBack(database);
    database.exec(statements(SQLITE).join(";\n"));
    await run?.(async (sql, values) => database.all(sql, values));
    database.all(`INSERT INTO ${VERSIONS_TABLE} (version, applied_at) VALUES (?, ?)`, [version, now]);
    database.exec("COMMIT");
  } catch (error) {
    rollBack(database);
    // Another program's table or index conflicts with the migration.
    if (error instanceof Error && /^(?:no such|duplicate|table|index|trigger|.* already exists)/.test(error.message))
      throw new StoreFileError("foreign", `the file's schema cannot be brought up to date: ${error.message}`, {
        cause: error,
      });
    throw error;
  }
}
