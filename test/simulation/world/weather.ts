/** When a part of the world is out of order, and how; decided in advance. */
import type { Chance } from "./chance.ts";

export interface Weather<Mode extends string> {
  /** The current failure mode; null if there is none. */
  readonly now: () => Mode | null;
}

const HOUR_MS = 3_600_000;

export interface WeatherOptions<Mode extends string> {
  readonly chance: Chance;
  /** In Unix milliseconds. */
  readonly now: () => number;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Modes that last hours or days. */
  readonly spells: readonly Mode[];
  readonly longestHours: number;
  /** Modes that affect one exchange, with their probability. */
  readonly mishaps: readonly Mode[];
  readonly mishapShare: number;
  readonly isOn: boolean;
}

interface Spell<Mode> {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly mode: Mode;
}

export function createWeather<Mode extends string>(options: WeatherOptions<Mode>): Weather<Mode> {
  const { chance, now, fromMs, untilMs, isOn } = options;
  const spells: Spell<Mode>[] = isOn ? Array.from({ length: chance.whole(0, 4) }, () => chooseSpell(options)) : [];
  return {
    now: () => {
      const nowMs = now();
      if (!isOn || nowMs < fromMs || nowMs >= untilMs) return null;
      const spell = spells.find((one) => one.fromMs <= nowMs && nowMs < one.untilMs);
      if (spell !== undefined) return spell.mode;
      return chance.happens(options.mishapShare) ? chance.pick(options.mishaps) : null;
    },
  };
}

function chooseSpell<Mode extends string>(options: WeatherOptions<Mode>): Spell<Mode> {
  const { chance, fromMs, untilMs, spells, longestHours } = options;
  const begin = chance.whole(fromMs, untilMs);
  const length = Math.min(chance.whole(1, longestHours) * HOUR_MS, untilMs - begin);
  return { fromMs: begin, untilMs: begin + length, mode: chance.pick(spells) };
}
