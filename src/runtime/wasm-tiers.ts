import { setFlagsFromString } from "node:v8";

/** What WebAssembly code may run before it is optimized: V8's own default is spent by one answer of a server. */
const BUDGET = 200_000_000;

/**
 * Lets WebAssembly prove that it runs for long before V8 optimizes it; only for what is instantiated afterwards. Node
 * does not end before such a compilation has: the HTTP parser's would hold every short command for longer than its work.
 */
export function delayWasmOptimization(): void {
  setFlagsFromString(`--wasm-tiering-budget=${BUDGET}`);
}
