/** A limit of V8 that is set while the program runs. */
import { setFlagsFromString } from "node:v8";

/**
 * Bytes of WebAssembly code that may run before it is optimized: V8's own default is spent by one answer of a server.
 */
const BUDGET = 200_000_000;

/**
 * Lets WebAssembly prove that it runs for long before V8 optimizes it; only for what is instantiated afterwards. Node
 * 20 does not end before such a compilation has, so the HTTP parser's would hold every short command: `people list`
 * takes 69 ms with this and 132 ms without it (two cores, quiet). Node 22, 24 and 26 take as long either way, so this
 * goes when Node 20 does.
 */
export function delayWasmOptimization(): void {
  setFlagsFromString(`--wasm-tiering-budget=${BUDGET}`);
}
