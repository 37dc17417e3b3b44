/** All randomness of a world, from one seed. */
import type { Random } from "../../../src/runtime/random.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";

export interface Chance {
  /** In [0, 1). */
  readonly fraction: () => number;
  /** A whole number from `low` to `high`, inclusive. */
  readonly whole: (low: number, high: number) => number;
  readonly pick: <Item>(items: readonly [Item, ...Item[]] | readonly Item[]) => Item;
  readonly happens: (share: number) => boolean;
  /** An independent source, so that drawing from one doesn't change the other. */
  readonly branch: (name: string) => Chance;
}

export function createChance(seed: number, name = ""): Chance {
  const fraction = seededRandom(mix(seed, name));
  const whole = (low: number, high: number): number => low + Math.floor(fraction() * (high - low + 1));
  return {
    fraction,
    whole,
    pick: (items) => {
      const item = items[whole(0, items.length - 1)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
    happens: (share) => fraction() < share,
    branch: (child) => createChance(seed, `${name}/${child}`),
  };
}

/** Derives a seed from a name. */
function mix(seed: number, name: string): number {
  let mixed = seed >>> 0;
  for (const character of name) mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93) >>> 0;
  return mixed ^ (mixed >>> 15);
}

/** The service's randomness. Tokens needn't be secret here. */
export function serviceRandom(chance: Chance): Random {
  return {
    fraction: chance.fraction,
    token: (bytes) => Buffer.from(Array.from({ length: bytes }, () => chance.whole(0, 255))).toString("base64url"),
  };
}
