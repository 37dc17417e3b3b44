import { type Clock, unixSeconds } from "../../runtime/clock.ts";
import { utcDay } from "../../runtime/zone.ts";
import type { Store } from "../domain/ports.ts";
import type { ShareRow } from "../domain/shares/share-rows.ts";
import { keepDays } from "../domain/shares/shares.ts";

/** Caches a live page's counts per day; a day is counted again when one of its answers changes. */
export class DayCounts {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Keeps a link from being counted twice at the same time. */
  readonly #running = new Map<string, Promise<void>>();

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Counts the missing days from `first` onward (days since 1970; null counts all). A million answers take a second or
   * two, without blocking other work.
   */
  async update(share: ShareRow, first: number | null): Promise<void> {
    const key = `${share.project.id} ${share.id}`;
    const before = this.#running.get(key) ?? Promise.resolve();
    const last = utcDay(unixSeconds(this.#clock)) - 1;
    const counting = before.catch(() => {}).then(() => keepDays(this.#store, share, { first, last }));
    this.#running.set(key, counting);
    try {
      await counting;
    } finally {
      if (this.#running.get(key) === counting) this.#running.delete(key);
    }
  }
}
