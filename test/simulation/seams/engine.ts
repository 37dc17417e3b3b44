/** In place of `service/store/sqlite/engine/engine.ts`: SQLite as WebAssembly, which writes through Node's functions. */
import { rmSync } from "node:fs";
import library from "node-sqlite3-wasm";
import type { SqlRow, SqlValue } from "../../../src/service/sql/database.ts";
import {
  type Engine,
  type EngineStatement,
  IN_MEMORY,
  type Look,
} from "../../../src/service/store/sqlite/engine/engine.ts";
import { translateSqliteError } from "../../../src/service/store/sqlite/engine/sqlite-errors.ts";
import { seams } from "./seams.ts";

export { IN_MEMORY };

/**
 * The store's last statement, and its question whether the file is open under another name. Under it this library may leave a journal when it is killed, and its locks keep it from
 * seeing that one at the next start. To close the database leaves one plain file just as well.
 */
const LEAVE_LOG = "PRAGMA journal_mode = DELETE";
const NOTHING: EngineStatement = { all: () => [], run: () => 0 };

type Prepared = ReturnType<InstanceType<typeof library.Database>["prepare"]>;

/** A dead process gives its memory back: all worlds of a run share the library's. */
export async function openEngine(file: string): Promise<Engine> {
  const database = open(file);
  const prepared = new Set<Prepared>();
  const state = { isOpen: true };
  const close = (): void => {
    if (!state.isOpen) return;
    state.isOpen = false;
    for (const statement of prepared) finalizeQuietly(statement);
    database.close();
  };
  seams.opened(close);
  const prepare = (sql: string): EngineStatement => {
    if (sql === LEAVE_LOG) return NOTHING;
    const held: { statement: Prepared | null } = { statement: null };
    const use = <Result>(work: (statement: Prepared) => Result): Result => {
      const statement = (held.statement ??= database.prepare(sql));
      prepared.add(statement);
      try {
        return work(statement);
      } catch (error) {
        // It would report that failure once more when it is used again.
        held.statement = null;
        prepared.delete(statement);
        finalizeQuietly(statement);
        throw error;
      }
    };
    return {
      all: (values) => use((statement) => statement.all(values as SqlValue[]) as SqlRow[]),
      run: (values) => use((statement) => statement.run(values as SqlValue[]).changes),
    };
  };
  const exec = (sql: string): void => {
    if (sql !== LEAVE_LOG) database.exec(sql);
  };
  return { exec, prepare, copyTo, close };
}

/** The simulated file is never another program's, and this library cannot open one without writing. */
export async function lookInto<Result>(_: string, work: (look: Look) => Result): Promise<Result> {
  return work((columns) => (columns === "quick_check" ? [["ok"]] : []));
}

function copyTo(): never {
  throw new Error("see snapshot-copy.ts");
}

function open(file: string): InstanceType<typeof library.Database> {
  try {
    // The library locks with a folder, which a dead process leaves; the simulated machine runs one at a time.
    if (file !== IN_MEMORY) rmSync(`${file}.lock`, { recursive: true, force: true });
    const database = new library.Database(file);
    // Without shared memory a log can be had by one process alone.
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    return database;
  } catch (error) {
    throw translateSqliteError(error);
  }
}

function finalizeQuietly(statement: Prepared): void {
  try {
    statement.finalize();
  } catch {
    // Told already by the step itself; the statement is freed all the same.
  }
}
