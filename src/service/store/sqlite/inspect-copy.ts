/** Looks at a copy of a data file without changing it. */
import { ERASURE_SECRET, type ErasureLog } from "../../domain/privacy/erasure-log.ts";
import { StoreFileError } from "../store-errors.ts";
import { createDatabase, type SqliteDatabase } from "./engine/database.ts";
import { openEngine } from "./engine/engine.ts";
import { isSqliteFile } from "./engine/data-file.ts";
import { TABLE_KEYS } from "../sql/rows/table-rows.ts";
import { IS_OUTDATED, recognizeSchema, VERSIONS_TABLE } from "../sql/schema/migrations.ts";
import { integrityFindings } from "./integrity.ts";

export interface CopyFacts {
  readonly schema: number;
  /** Of each table, by its name; those that a newer or older version has are missing. */
  readonly rows: Readonly<Record<string, number>>;
  /** Rows of people that are not on their way out. */
  readonly people: number;
  /** Messages that are surveys. */
  readonly surveys: number;
  /** Its faults, a sentence a finding. */
  readonly findings: readonly string[];
}

/** Reads all of it. The file was closed properly, so it has no log. Throws StoreFileError for what is no data file. */
export function inspectCopy(file: string): Promise<CopyFacts> {
  return lookInto(file, (database, tables) => {
    return {
      schema: countOf(database, `SELECT max(version) AS n FROM ${VERSIONS_TABLE}`),
      rows: Object.fromEntries(
        Object.keys(TABLE_KEYS)
          .filter((table) => tables.has(table))
          .map((table) => [table, countOf(database, `SELECT count(*) AS n FROM ${table}`)]),
      ),
      people: countOf(database, "SELECT count(*) AS n FROM people WHERE removed = 0"),
      surveys: countOf(database, "SELECT count(*) AS n FROM messages WHERE person_id IS NOT NULL"),
      findings: integrityFindings(database),
    };
  });
}

/** The people who had been erased when the copy was made. Throws StoreFileError for what is no data file. */
export function readCopiedErasures(file: string): Promise<ErasureLog> {
  return lookInto(file, (database) => {
    const secret = database.first("SELECT value FROM store_secrets WHERE name = ?", [ERASURE_SECRET])?.value ?? "";
    const projects = database.all("SELECT id, name FROM projects ORDER BY id").map(({ id = null, name }) => {
      const entries = database.all("SELECT hash, at FROM erasures WHERE project_id = ?", [id]);
      return { name: String(name), entries: entries.map(({ hash, at }) => ({ hash: String(hash), at: Number(at) })) };
    });
    return { secret: String(secret), projects };
  });
}

async function lookInto<Result>(
  file: string,
  look: (database: SqliteDatabase, tables: ReadonlySet<string>) => Result,
): Promise<Result> {
  if (!isSqliteFile(file)) throw new StoreFileError("not_sqlite", "the file is not a SQLite database");
  const database = createDatabase(await openEngine(file));
  try {
    database.exec("PRAGMA query_only = 1");
    const named = database.all("SELECT name FROM sqlite_master WHERE type = 'table'");
    const tables = new Set(named.map(({ name }) => String(name)));
    const whose = recognizeSchema([...tables]);
    if (whose === "outdated") throw new StoreFileError("outdated", `this file ${IS_OUTDATED}`);
    if (whose !== "ours") throw new StoreFileError("foreign", "this is a SQLite file of another program");
    return look(database, tables);
  } finally {
    database.close();
  }
}

function countOf(database: SqliteDatabase, sql: string): number {
  return Number(database.first(sql)?.n ?? 0);
}
