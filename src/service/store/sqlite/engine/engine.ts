/** What we need of a SQLite library; each engine is one small adapter. */
export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

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
