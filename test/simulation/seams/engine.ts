/**
 * Replaces `service/store/sqlite/engine/engine.ts` with SQLite compiled to WebAssembly, which writes through Node's
 * functions.
 */
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
 * The store's last statement, and its check for other names of the file. With it, a kill can leave a journal that this
 * library's locks then hide at the next start. Closing the database already leaves a single file.
 */
const LEAVE_LOG = "PRAGMA journal_mode = DELETE";
const NOTHING: EngineStatement = { all: () => [], run: () => 0 };

type Prepared = ReturnType<InstanceType<typeof library.Database>["prepare"]>;

/** Frees a dead process's memory, which all worlds of a run share. */
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
        // Otherwise the library would report that failure again at the next use.
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

/** Simulated files always belong to us, and this library can't open a file read-only. */
export async function lookInto<Result>(_: string, work: (look: Look) => Result): Promise<Result> {
  return work((columns) => (columns === "quick_check" ? [["ok"]] : []));
}

function copyTo(): never {
  throw new Error("see snapshot-copy.ts");
}

function open(file: string): InstanceType<typeof library.Database> {
  try {
    // The library locks with a folder, which a dead process leaves behind. Only one process runs at a time.
    if (file !== IN_MEMORY) rmSync(`${file}.lock`, { recursive: true, force: true });
    const database = new library.Database(file);
    // Without shared memory, only one process can use a log.
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
    // The step has already reported the error, and the statement is freed anyway.
  }
}
