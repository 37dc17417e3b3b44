import { setFlagsFromString } from "node:v8";

/** What WebAssembly code may run before it is optimized: V8's own default is spent by one answer of a server. */
const BUDGET = 200_000_000;

/**
 * Lets WebAssembly prove that it runs for long before V8 optimizes it; only for what is instantiated afterwards. Node
 * does not end before such a compilation has, so the HTTP parser's would hold every short command: `people list` takes
 * 120 ms with this and 200 ms without it (Node 20, two cores, quiet).
 */
export function delayWasmOptimization(): void {
  setFlagsFromString(`--wasm-tiering-budget=${BUDGET}`);
}
