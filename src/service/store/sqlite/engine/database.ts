import { noteStatement, type StatementWatch } from "../../slow-statements.ts";
import { refuseNul, refuseOutsideWrite } from "../../sql/guards.ts";
import { type Database, type SqlRow, type SqlValue } from "../../../sql/database.ts";
import { CountChanges } from "../../../sql/lists/count-changes.ts";
import type { ProjectStates } from "../../../sql/project-states.ts";
import type { Engine, EngineStatement } from "./engine.ts";
import { translateSqliteError } from "./sqlite-errors.ts";

const STATEMENTS_MAX = 256;

export interface SqliteDatabase {
  writing: boolean;
  changes: number;
  exec(sql: string): void;
  all(sql: string, values?: readonly SqlValue[]): SqlRow[];
  first(sql: string, values?: readonly SqlValue[]): SqlRow | null;
  run(sql: string, values?: readonly SqlValue[]): number;
  returning(sql: string, values?: readonly SqlValue[]): SqlRow[];
  close(): void;
}

/** Throws UniqueViolation, and what the engine throws. */
export function createDatabase(engine: Engine, watch: StatementWatch | null = null): SqliteDatabase {
  const statements = new Map<string, EngineStatement>();

  const prepare = (sql: string): EngineStatement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const [oldest] = statements.keys();
    if (statements.size >= STATEMENTS_MAX && oldest !== undefined) statements.delete(oldest);
    // SQLite would recompile a statement with a bare `LIMIT ?` for each run, which can cost 20 times as much as the
    // run.
    const statement = engine.prepare(sql.replaceAll("LIMIT ?", "LIMIT CAST(? AS INTEGER)"));
    statements.set(sql, statement);
    return statement;
  };
  const guard = <Result>(
    sql: string,
    values: readonly SqlValue[],
    use: (statement: EngineStatement) => Result,
  ): Result => {
    refuseNul(values);
    const startedMs = watch?.clock.monotonic() ?? 0;
    try {
      const result = use(prepare(sql));
      if (watch !== null) noteStatement(watch, startedMs, sql);
      return result;
    } catch (error) {
      // A failed statement would fail again if it were reused.
      statements.delete(sql);
      throw translateSqliteError(error);
    }
  };

  const database: SqliteDatabase = {
    writing: false,
    changes: 0,
    exec: (sql) => {
      try {
        engine.exec(sql);
      } catch (error) {
        throw translateSqliteError(error);
      }
    },
    all: (sql, values = []) => guard(sql, values, (statement) => statement.all(values)),
    first: (sql, values = []) => database.all(sql, values)[0] ?? null,
    run: (sql, values = []) => {
      beginChange(database);
      return guard(sql, values, (statement) => statement.run(values));
    },
    returning: (sql, values = []) => {
      beginChange(database);
      return database.all(sql, values);
    },
    close: () => {
      statements.clear();
      engine.close();
    },
  };
  return database;
}

export function toDatabase(
  sqlite: SqliteDatabase,
  states?: ProjectStates,
  counts: CountChanges = new CountChanges(),
): Database {
  return {
    counts,
    get writing() {
      return sqlite.writing;
    },
    all: async (sql, values) => sqlite.all(sql, values),
    first: async (sql, values) => sqlite.first(sql, values),
    run: async (sql, values) => sqlite.run(sql, values),
    returning: async (sql, values) => sqlite.returning(sql, values),
    send: (sql, values) => void sqlite.run(sql, values),
    state: async (project) => {
      refuseOutsideWrite(sqlite.writing);
      return states!.of(project);
    },
  };
}

export function rollBack(database: SqliteDatabase): void {
  try {
    database.all("ROLLBACK");
  } catch {
    // SQLite may already have rolled back, for example on a full disk.
  }
}

function beginChange(database: SqliteDatabase): void {
  refuseOutsideWrite(database.writing);
  database.changes += 1;
}
