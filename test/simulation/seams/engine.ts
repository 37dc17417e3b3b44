/** In place of `service/store/sqlite/engine/engine.ts`: always the library that writes through Node's functions. */
import {
  type Engine,
  type EngineStatement,
  IN_MEMORY,
  openEngine as openReal,
} from "../../../src/service/store/sqlite/engine/engine.ts";
import { seams } from "./seams.ts";

export { IN_MEMORY };

/** A dead process gives its memory back: all worlds of a run share the library's. */
export async function openEngine(file: string): Promise<Engine> {
  const engine = await openReal(file, "node-sqlite3-wasm");
  const statements = new Set<EngineStatement>();
  const state = { isOpen: true };
  const close = (): void => {
    if (!state.isOpen) return;
    state.isOpen = false;
    for (const statement of statements) statement.finalize();
    engine.close();
  };
  seams.opened(close);
  return {
    ...engine,
    prepare: (sql) => {
      const prepared = engine.prepare(sql);
      const statement: EngineStatement = {
        all: (values) => prepared.all(values),
        run: (values) => prepared.run(values),
        finalize: () => {
          if (statements.delete(statement)) prepared.finalize();
        },
      };
      statements.add(statement);
      return statement;
    },
    close,
  };
}
