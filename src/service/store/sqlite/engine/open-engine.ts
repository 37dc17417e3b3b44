import type { Engine, EngineName } from "./engine.ts";
import { openNodeEngine } from "./node-engine.ts";
import { openWasmEngine } from "./wasm-engine.ts";

/** The named engine or, unnamed, Node's own where this Node has one. */
export async function openEngine(file: string, name?: EngineName): Promise<Engine> {
  if (name === "node-sqlite3-wasm") return openWasmEngine(file);
  const engine = await openNodeEngine(file);
  if (engine !== null) return engine;
  if (name === "node:sqlite") throw new Error("this Node has no node:sqlite");
  return openWasmEngine(file);
}
