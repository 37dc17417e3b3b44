/** The part of Node's SQLite that we use; our version of Node's types doesn't have it yet. */
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
  export function backup(source: DatabaseSync, file: string, options: { rate: number }): Promise<number>;
}
