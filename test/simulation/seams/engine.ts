/** In place of `service/store/sqlite/engine/engine.ts`: always the library that writes through Node's functions. */
import { type Engine, IN_MEMORY, openEngine as openReal } from "../../../src/service/store/sqlite/engine/engine.ts";
import { seams } from "./seams.ts";

export { IN_MEMORY };

export async function openEngine(file: string): Promise<Engine> {
  const engine = await openReal(file, "node-sqlite3-wasm");
  const state = { isOpen: true };
  const close = (): void => {
    if (state.isOpen) engine.close();
    state.isOpen = false;
  };
  seams.opened(close);
  return { ...engine, close };
}
