import { setFlagsFromString } from "node:v8";

/** Bytes of WebAssembly to run before V8 optimizes it; a single response exceeds the default. */
const BUDGET = 200_000_000;

/**
 * Delays V8's optimization of WebAssembly that is instantiated afterwards. Node 20 doesn't exit while it compiles, so
 * optimizing the HTTP parser delays every short command: `people list` takes 69 ms with this and 132 ms without (2
 * cores, quiet). Node 22 and later don't need it.
 */
export function delayWasmOptimization(): void {
  setFlagsFromString(`--wasm-tiering-budget=${BUDGET}`);
}
