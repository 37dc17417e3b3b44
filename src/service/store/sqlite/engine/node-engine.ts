import { withoutWarning } from "../../../../runtime/warnings.ts";
import type { Engine, SqlRow } from "./engine.ts";

/** Node's own SQLite, from 22.13 on; null where this Node has none. */
export async function openNodeEngine(file: string): Promise<Engine | null> {
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
