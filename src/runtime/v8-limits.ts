/** What V8 may take for itself, set while the program runs. */
import { setFlagsFromString } from "node:v8";

/** What WebAssembly code may run before it is optimized: V8's own default is spent by one answer of a server. */
const BUDGET = 200_000_000;

/**
 * Lets WebAssembly prove that it runs for long before V8 optimizes it; only for what is instantiated afterwards. Node 20
 * does not end before such a compilation has, so the HTTP parser's would hold every short command: `people list` takes
 * 69 ms with this and 132 ms without it (two cores, quiet). Node 22, 24 and 26 take as long either way.
 */
export function delayWasmOptimization(): void {
  setFlagsFromString(`--wasm-tiering-budget=${BUDGET}`);
}

/**
 * Has WebAssembly optimized by one thread; only for what is instantiated afterwards. Each of them keeps the memory that
 * it took for it: for SQLite 28 MB less (Node 20).
 */
export function optimizeWasmByOneThread(): void {
  setFlagsFromString("--wasm-num-compilation-tasks=1");
}

/** What V8 lets memory outside its heap grow by before it collects everything (its `kExternalAllocationSoftLimit`). */
const OUTSIDE_BYTES = 64 * 1024 * 1024;

/**
 * Has V8 collect everything soon, after a phase that held much and let it go: it would put that off until its heap has
 * grown by a multiple of what was held. The memory that is asked for here is never touched, and so never taken. An
 * import of a million rows peaks at 167 MB with this and at 348 MB without it.
 */
export function collectSoon(): void {
  Buffer.alloc(OUTSIDE_BYTES);
}
