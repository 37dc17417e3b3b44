/** The SQLite library: Node's own where this Node has one, else the optional package with the same interface. */
import { statSync } from "node:fs";
import { withoutWarning } from "../../../../runtime/log.ts";
import { StoreFileError } from "../../store-errors.ts";
import type { SqlRow, SqlValue } from "../../../sql/database.ts";
import { translateSqliteError } from "./sqlite-errors.ts";

export interface EngineStatement {
  /** Steps to the end: a statement that is left open would block the commit. */
  all(values: readonly SqlValue[]): SqlRow[];
  /** Rows changed. */
  run(values: readonly SqlValue[]): number;
}

export interface Engine {
  exec(sql: string): void;
  prepare(sql: string): EngineStatement;
  /** Writes the state that the open transaction sees into an empty file, without holding up the event loop. */
  copyTo(file: string): Promise<void>;
  close(): void;
}

/** In place of a file: a database in memory, gone when it is closed. */
export const IN_MEMORY = ":memory:";
/** In place of a file: a file of SQLite's own, in the system's temporary folder, gone when it is closed. */
export const TEMPORARY = "";

/** Throws StoreFileError. */
export async function openEngine(file: string): Promise<Engine> {
  const { DatabaseSync, backup } = await loadLibrary();
  try {
    const database = new DatabaseSync(file);
    return {
      exec: (sql) => database.exec(sql),
      prepare: (sql) => {
        const statement = database.prepare(sql);
        return {
          all: (values) => statement.all(...values) as SqlRow[],
          run: (values) => Number(statement.run(...values).changes),
        };
      },
      copyTo: async (target) => void (await backup(database, target, { rate: COPIED_PAGES })),
      close: () => database.close(),
    };
  } catch (error) {
    throw translateSqliteError(error);
  }
}

/** The rows of `SELECT columns from`. */
export type Look = (columns: string, from: string) => readonly SqlValue[][];

/**
 * Reads a file and leaves it as it is. Opened for writing, SQLite would merge the log of a killed process in the end;
 * opened for reading, it would leave an empty log where there was none. Rows come through a function of ours, since the
 * optional package keeps a file open as long as there are prepared statements.
 */
export async function lookInto<Result>(file: string, work: (look: Look) => Result): Promise<Result> {
  const { DatabaseSync } = await loadLibrary();
  try {
    const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    const database = new DatabaseSync(file, { readOnly: hasLog });
    try {
      let found: SqlValue[][] = [];
      database.function("found", { varargs: true }, (...row) => {
        found.push(row as SqlValue[]);
        return null;
      });
      return work((columns, from) => {
        found = [];
        database.exec(`SELECT found(${columns}) ${from}`);
        return found;
      });
    } finally {
      database.close();
    }
  } catch (error) {
    throw translateSqliteError(error);
  }
}

/** A step: few steps, since each waits for its turn of the event loop. */
const COPIED_PAGES = 2048;

type Library = Pick<typeof import("node:sqlite"), "DatabaseSync" | "backup">;

async function loadLibrary(): Promise<Library> {
  try {
    // Node 22 warns that the module is experimental; that one warning says nothing to our users.
    return await withoutWarning("SQLite", () => import("node:sqlite"));
  } catch {
    return loadPackage();
  }
}

async function loadPackage(): Promise<Library> {
  try {
    // The same interface; the types of its classes have parts that Node's do not.
    return (await import("@photostructure/sqlite")) as unknown as Library;
  } catch (error) {
    throw new StoreFileError("unreadable", NO_LIBRARY, { cause: error });
  }
}

const NO_LIBRARY =
  "this Node has no SQLite; use Node 22.13 or newer, or install the optional package @photostructure/sqlite";
