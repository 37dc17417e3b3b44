import type { Clock } from "../../../runtime/clock.ts";
import type { SendRate } from "../../delivery/carrier.ts";
import type { Store } from "../../domain/ports.ts";
import { FULL_BUCKET, reserve } from "./token-bucket.ts";

export interface SendRateLimiterOptions {
  readonly rate: SendRate;
  readonly clock: Clock;
  readonly store: Store;
  /** All processes with this name share the rate. */
  readonly name: string;
  readonly wanted: () => number;
}

const TAKEN_MAX = 10;

/**
 * Reserves slots in batches of at most one second's worth. A process that leaves its slots unused delays the others by
 * no more than that.
 */
export class SendRateLimiter {
  readonly #options: SendRateLimiterOptions;
  readonly #perSecond: number;
  readonly #most: number;
  #slots: number[] = [];
  #reserving: Promise<void> | null = null;

  constructor(options: SendRateLimiterOptions) {
    const { count, perSeconds } = options.rate;
    this.#options = options;
    this.#perSecond = count / perSeconds;
    const atOnce = Math.max(TAKEN_MAX, Math.ceil(this.#perSecond / TAKEN_MAX));
    this.#most = Math.max(1, Math.min(Math.floor(this.#perSecond), atOnce));
  }

  next(): Promise<number> {
    return this.#find(() => this.#slots[0]);
  }

  take(): Promise<number> {
    return this.#find(() => this.#slots.shift());
  }

  /** Reserves slots until `pick` finds one: other messages may take all the new slots first. */
  async #find(pick: () => number | undefined): Promise<number> {
    for (;;) {
      const missed = this.#options.clock.now() - 1000 / this.#perSecond;
      this.#slots = this.#slots.filter((at) => at >= missed);
      const found = pick();
      if (found !== undefined) return found;
      this.#reserving ??= this.#reserve().finally(() => {
        this.#reserving = null;
      });
      await this.#reserving;
    }
  }

  async #reserve(): Promise<void> {
    const { rate, clock, store, name, wanted } = this.#options;
    const count = Math.min(this.#most, Math.max(1, wanted()));
    const waits = await store.write(
      async (tx) => {
        const level = (await tx.senders.state(`bucket ${name}`)) ?? FULL_BUCKET;
        const { bucket, departures } = reserve(rate, level, tx.nowMs, count);
        await tx.senders.setState(`bucket ${name}`, bucket);
        return departures.map((at) => at - tx.nowMs);
      },
      { project: "none" },
    );
    // Uses waiting times, because this process's clock can differ from the store's.
    const now = clock.now();
    this.#slots.push(...waits.map((wait) => now + wait));
  }
}
