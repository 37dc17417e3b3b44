/** What we need of a SQLite library; each engine is one small adapter. */
import { withoutWarning } from "../../../../runtime/log.ts";
import type { SqlRow, SqlValue } from "../../sql/database.ts";
import { translateSqliteError } from "./sqlite-errors.ts";

export interface EngineStatement {
  /** Steps to the end: a statement that is left open would block the commit. */
  all(values: readonly SqlValue[]): SqlRow[];
  /** Rows changed. */
  run(values: readonly SqlValue[]): number;
  finalize(): void;
}

export interface Engine {
  readonly name: EngineName;
  exec(sql: string): void;
  prepare(sql: string): EngineStatement;
  close(): void;
}

export type EngineName = "node:sqlite" | "node-sqlite3-wasm";

/** In place of a file: a database in memory, gone when it is closed. */
export const IN_MEMORY = ":memory:";

/** The named engine or, unnamed, Node's own where this Node has one. Throws StoreFileError. */
export async function openEngine(file: string, name?: EngineName): Promise<Engine> {
  try {
    return await chooseEngine(file, name);
  } catch (error) {
    throw translateSqliteError(error);
  }
}

async function chooseEngine(file: string, name?: EngineName): Promise<Engine> {
  if (name === "node-sqlite3-wasm") return openWasmEngine(file);
  const engine = await openNodeEngine(file);
  if (engine !== null) return engine;
  if (name === "node:sqlite") throw new Error("this Node has no node:sqlite");
  return openWasmEngine(file);
}

/** Node's own SQLite, from 22.13 on; null where this Node has none. */
async function openNodeEngine(file: string): Promise<Engine | null> {
  const library = await importQuietly();
  if (library === null) return null;
  const database = new library.DatabaseSync(file);
  return {
    name: "node:sqlite",
    exec: (sql) => database.exec(sql),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      return {
        all: (values) => statement.all(...values) as SqlRow[],
        run: (values) => Number(statement.run(...values).changes),
        finalize: () => undefined,
      };
    },
    close: () => database.close(),
  };
}

/** Node 22 warns that the module is experimental; that one warning says nothing to our users. */
async function importQuietly(): Promise<typeof import("node:sqlite") | null> {
  try {
    return await withoutWarning("SQLite", () => import("node:sqlite"));
  } catch {
    return null;
  }
}

/** SQLite as WebAssembly: runs wherever Node runs. */
async function openWasmEngine(file: string): Promise<Engine> {
  const { default: library } = await import("node-sqlite3-wasm");
  const database = new library.Database(file);
  return {
    name: "node-sqlite3-wasm",
    exec: (sql) => database.exec(sql),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      return {
        all: (values) => statement.all(values as SqlValue[]) as SqlRow[],
        run: (values) => statement.run(values as SqlValue[]).changes,
        finalize: () => finalizeQuietly(statement),
      };
    },
    close: () => database.close(),
  };
}

/** Frees a statement; after a step that failed, SQLite reports that failure here once more. */
function finalizeQuietly(statement: { finalize(): void }): void {
  try {
    statement.finalize();
  } catch {
    // Told already by the step itself; the statement is freed all the same.
  }
}
