/** Node's own SQLite as far as we use it: our Node types are those of a version that has none yet. */
declare module "node:sqlite" {
  type SqliteValue = number | bigint | string | Uint8Array | null;
  export class StatementSync {
    all(...values: readonly SqliteValue[]): Record<string, SqliteValue>[];
    run(...values: readonly SqliteValue[]): { changes: number | bigint };
  }
  export class DatabaseSync {
    constructor(file: string, options?: { readonly readOnly: boolean });
    exec(sql: string): void;
    prepare(sql: string): StatementSync;
    function(name: string, options: { readonly varargs: true }, work: (...values: SqliteValue[]) => null): void;
    close(): void;
  }
  /** Copies the whole database without holding up the event loop, so many pages a step; resolves with their number. */
  export function backup(source: DatabaseSync, file: string, options: { rate: number }): Promise<number>;
}
