/** Everything that is left to chance, from one seed. */
import type { Random } from "../../../src/runtime/random.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";

export interface Chance {
  /** From 0 up to, not including, 1. */
  readonly fraction: () => number;
  /** A whole number from `low` to `high`, both included. */
  readonly whole: (low: number, high: number) => number;
  readonly pick: <Item>(items: readonly [Item, ...Item[]] | readonly Item[]) => Item;
  readonly happens: (share: number) => boolean;
  /** Another source with a seed of its own: what is drawn from one changes nothing in the other. */
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

/** Another number for each name. */
function mix(seed: number, name: string): number {
  let mixed = seed >>> 0;
  for (const character of name) mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93) >>> 0;
  return mixed ^ (mixed >>> 15);
}

/** The service's own chance: tokens are no secrets here. */
export function serviceRandom(chance: Chance): Random {
  return {
    fraction: chance.fraction,
    token: (bytes) => Buffer.from(Array.from({ length: bytes }, () => chance.whole(0, 255))).toString("base64url"),
  };
}
