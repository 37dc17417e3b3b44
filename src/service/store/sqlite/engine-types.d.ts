/** The two engines as far as we use them; neither brings types that our Node types know. */
declare module "node-sqlite3-wasm" {
  type SqliteValue = number | bigint | string | Uint8Array | null;
  export class Statement {
    all(values: readonly SqliteValue[]): Record<string, SqliteValue>[];
    run(values: readonly SqliteValue[]): { changes: number };
    finalize(): void;
  }
  export class Database {
    constructor(file?: string);
    exec(sql: string): void;
    prepare(sql: string): Statement;
    close(): void;
  }
  const all: { Database: typeof Database };
  export default all;
}

declare module "node:sqlite" {
  type SqliteValue = number | bigint | string | Uint8Array | null;
  export class StatementSync {
    all(...values: readonly SqliteValue[]): Record<string, SqliteValue>[];
    run(...values: readonly SqliteValue[]): { changes: number | bigint };
  }
  export class DatabaseSync {
    constructor(file: string);
    exec(sql: string): void;
    prepare(sql: string): StatementSync;
    close(): void;
  }
}
