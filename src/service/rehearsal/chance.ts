import { createHash } from "node:crypto";
import type { Random } from "../../runtime/random.ts";

/** Deterministic on every machine. */
export function createChance(seed: number): Pick<Random, "fraction"> {
  const state = { count: 0 };
  return {
    fraction: () => {
      state.count += 1;
      const hash = createHash("sha256").update(`${seed} ${state.count}`).digest();
      return hash.readUInt32BE(0) / 2 ** 32;
    },
  };
}
