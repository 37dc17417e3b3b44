import type { Engine, SqlRow, SqlValue } from "./engine.ts";

/** SQLite as WebAssembly: runs wherever Node runs. */
export async function openWasmEngine(file: string): Promise<Engine> {
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
