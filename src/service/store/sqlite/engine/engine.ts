/** The SQLite library: Node's if this version has one, otherwise the optional package with the same interface. */
import { statSync } from "node:fs";
import { withoutWarning } from "../../../../runtime/log.ts";
import { StoreFileError } from "../../store-errors.ts";
import type { SqlRow, SqlValue } from "../../../sql/database.ts";
import { translateSqliteError } from "./sqlite-errors.ts";

export interface EngineStatement {
  /** Reads all rows, because an unfinished statement would block the commit. */
  all(values: readonly SqlValue[]): SqlRow[];
  run(values: readonly SqlValue[]): number;
}

export interface Engine {
  exec(sql: string): void;
  prepare(sql: string): EngineStatement;
  /** Copies the open transaction's snapshot to an empty file, without blocking the event loop. */
  copyTo(file: string): Promise<void>;
  close(): void;
}

export const IN_MEMORY = ":memory:";
/** SQLite keeps the data in a temporary file and deletes it when closed. */
export const TEMPORARY = "";

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

export type Look = (columns: string, from: string) => readonly SqlValue[][];

/** Reads a file without changing it. */
export async function lookInto<Result>(file: string, work: (look: Look) => Result): Promise<Result> {
  const { DatabaseSync } = await loadLibrary();
  try {
    const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    // With a log, opens read-only so that SQLite doesn't merge it. Without one, a read-only connection would leave an
    // empty log.
    const database = new DatabaseSync(file, { readOnly: hasLog });
    try {
      // Collects rows with a SQL function, because prepared statements make the optional package keep the file open.
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

const COPIED_PAGES = 2048;

type Library = Pick<typeof import("node:sqlite"), "DatabaseSync" | "backup">;

async function loadLibrary(): Promise<Library> {
  try {
    return await withoutWarning("SQLite", () => import("node:sqlite"));
  } catch {
    return loadPackage();
  }
}

async function loadPackage(): Promise<Library> {
  try {
    // The interface is the same, but the declared types differ.
    return (await import("@photostructure/sqlite")) as unknown as Library;
  } catch (error) {
    throw new StoreFileError("unreadable", NO_LIBRARY, { cause: error });
  }
}

const NO_LIBRARY =
  "this Node has no SQLite; use Node 22.13 or newer, or install the optional package @photostructure/sqlite";
