/** What V8 may take for itself, set while the program runs. */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

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

/**
 * Has WebAssembly optimized by one thread; only for what is instantiated afterwards. Each of them keeps the memory that
 * it took for it: for SQLite 28 MB less (Node 20).
 */
export function optimizeWasmByOneThread(): void {
  setFlagsFromString("--wasm-num-compilation-tasks=1");
}

/** So large the space for new objects may become; a batch of rows needs a fraction of it. */
const ENOUGH_BYTES = 16 * 1024 * 1024;

/**
 * Keeps the space for new objects from growing beyond what streaming rows needs; V8 lets it grow to 48 MB. An import of
 * history holds 17 MB less for 4 % of its speed (Node 20). Call the result now and then; it costs nothing once the space
 * is large enough.
 */
export function createYoungHeapLimit(): () => void {
  let isLimited = false;
  return () => {
    if (isLimited) return;
    const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    isLimited = (space?.space_size ?? 0) >= ENOUGH_BYTES;
    if (isLimited) setFlagsFromString("--semi-space-growth-factor=1");
  };
}
