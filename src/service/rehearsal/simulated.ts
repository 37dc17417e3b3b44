import { createHash } from "node:crypto";
import { type Clock, nextTurn } from "../../runtime/clock.ts";
import type { Random } from "../../runtime/random.ts";
import { answerSurvey } from "../domain/answers/answers.ts";
import type { DueQuestion, Store } from "../domain/ports.ts";

/** Pseudo-random numbers that are the same on every machine. */
export function createChance(seed: number): Pick<Random, "fraction"> {
  let count = 0;
  return {
    fraction: () => {
      count += 1;
      const hash = createHash("sha256").update(`${seed} ${count}`).digest();
      return hash.readUInt32BE(0) / 2 ** 32;
    },
  };
}

/** Its time only changes when set. `sleep` lets other work run and takes no time. */
export class JumpClock implements Clock {
  /** Unix seconds. */
  seconds: number;

  constructor(start: number) {
    this.seconds = start;
  }

  now(): number {
    return this.seconds * 1000;
  }

  monotonic(): number {
    return this.now();
  }

  async sleep(_: number, signal?: AbortSignal): Promise<void> {
    await nextTurn();
    signal?.throwIfAborted();
  }
}

const WITHIN_SECONDS = 3 * 86_400;
const SCORE = 9;
const WINDOW_SECONDS = 86_400;

/** A share of people answer, within three days of getting their survey. */
export class Answers {
  readonly #store: Store;
  readonly #rate: number;
  readonly #chance: Pick<Random, "fraction">;
  readonly #waiting: { readonly at: number; readonly token: string }[] = [];

  constructor(store: Store, rate: number, chance: Pick<Random, "fraction">) {
    this.#store = store;
    this.#rate = rate;
    this.#chance = chance;
  }

  plan({ token }: Pick<DueQuestion, "token">, now: number): void {
    if (this.#rate <= 0 || this.#chance.fraction() >= this.#rate) return;
    const at = now + 1 + Math.floor(this.#chance.fraction() * WITHIN_SECONDS);
    const next = this.#waiting.findLastIndex((one) => one.at <= at) + 1;
    this.#waiting.splice(next, 0, { at, token });
  }

  nextAt(): number {
    return this.#waiting[0]?.at ?? Infinity;
  }

  async give(now: number): Promise<void> {
    const answer = { score: SCORE, by: "button" } as const;
    while (this.nextAt() <= now) {
      const { token = "" } = this.#waiting.shift() ?? {};
      await this.#store.write((tx) => answerSurvey(tx, token, answer, WINDOW_SECONDS), { project: "all" });
    }
  }
}
